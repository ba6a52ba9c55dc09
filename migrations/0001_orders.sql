-- The orders, the cancelled orders, and the revision of the orders, which is the ETag of the list.

CREATE TABLE `orders` (
	`id` integer PRIMARY KEY NOT NULL,
	`pet_id` integer,
	`quantity` integer,
	-- RFC 3339 in UTC with milliseconds, in exactly this spelling: the list copies it into JSON unescaped. The
	-- modifier '+0 days' makes SQLite normalise the date, so that 30 February and 24:00 become another text.
	`ship_date` text CHECK (`ship_date` IS strftime('%Y-%m-%dT%H:%M:%fZ', `ship_date`, '+0 days')),
	`complete` integer CHECK (`complete` IN (0, 1)),
	-- Not part of the public order: it decides whether the order can be cancelled.
	`status` text DEFAULT 'pending' NOT NULL,
	CONSTRAINT "orders_status" CHECK("orders"."status" in ('pending', 'processing', 'shipped', 'delivered'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `cancelled_orders` (
	`id` integer PRIMARY KEY NOT NULL,
	-- Not unique: an order can be loaded again after it was cancelled, and be cancelled again.
	`order_id` integer NOT NULL,
	`pet_id` integer,
	`quantity` integer,
	`ship_date` text,
	`complete` integer,
	`cancelled_at` integer NOT NULL,
	`cancelled_by` text NOT NULL,
	`request_id` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `orders_revision` (
	`id` integer PRIMARY KEY NOT NULL CHECK (`id` = 1),
	`revision` integer NOT NULL,
	-- A new random value with each revision, so that a database restored to an earlier time never repeats an ETag.
	`token` text NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `orders_revision` (`id`, `revision`, `token`) VALUES (1, 1, lower(hex(randomblob(8))));
--> statement-breakpoint
CREATE TRIGGER `orders_insert_raises_revision` AFTER INSERT ON `orders`
BEGIN
	UPDATE `orders_revision` SET `revision` = `revision` + 1, `token` = lower(hex(randomblob(8))) WHERE `id` = 1;
END;
--> statement-breakpoint
CREATE TRIGGER `orders_update_raises_revision` AFTER UPDATE ON `orders`
BEGIN
	UPDATE `orders_revision` SET `revision` = `revision` + 1, `token` = lower(hex(randomblob(8))) WHERE `id` = 1;
END;
--> statement-breakpoint
CREATE TRIGGER `orders_delete_raises_revision` AFTER DELETE ON `orders`
BEGIN
	UPDATE `orders_revision` SET `revision` = `revision` + 1, `token` = lower(hex(randomblob(8))) WHERE `id` = 1;
END;
