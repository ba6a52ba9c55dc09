-- 1: the import stopped early, because too many lines were refused. Imports before this column have 0.
ALTER TABLE `order_imports` ADD `stopped` integer DEFAULT false NOT NULL;
