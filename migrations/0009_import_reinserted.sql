-- Orders that an import inserted again after clients had cancelled them. Imports before this column have 0.
ALTER TABLE `order_imports` ADD `reinserted` integer DEFAULT 0 NOT NULL;
