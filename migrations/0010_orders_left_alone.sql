-- The orders that undoing an import left alone. Undoing its earlier chunks leaves them alone too. Kept for two days.
-- One tree, so each order is one row written: `undone_at` is that of the import, and puts the oldest rows first.
CREATE TABLE `orders_left_alone` (
	`undone_at` integer NOT NULL,
	`import_id` text NOT NULL,
	`order_id` integer NOT NULL,
	PRIMARY KEY(`undone_at`, `import_id`, `order_id`)
) STRICT, WITHOUT ROWID;
