-- How many orders an import set back to an earlier status. Imports before this column have 0.
ALTER TABLE `order_imports` ADD `backwards` integer DEFAULT 0 NOT NULL;
