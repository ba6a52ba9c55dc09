-- Orders that an import left out, because they were cancelled before. Imports before this column have 0.
ALTER TABLE `order_imports` ADD `cancelled` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- An import looks up each new order among the cancelled ones.
CREATE INDEX `cancelled_orders_by_order` ON `cancelled_orders` (`order_id`);
