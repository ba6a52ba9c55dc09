-- The orders, the cancelled ones, and a change feed that makes an unchanged list cheap and every list a snapshot.

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
-- The public order as the list has it. A dictionary of members would print null for an absent one, hence the concatenation.
-- Nothing needs escaping: the columns are integers, and dates of one spelling.
CREATE VIEW `order_json` AS
SELECT `id`, '{"id":' || `id`
	|| coalesce(',"petId":' || `pet_id`, '')
	|| coalesce(',"quantity":' || `quantity`, '')
	|| coalesce(',"shipDate":"' || `ship_date` || '"', '')
	|| CASE `complete` WHEN 1 THEN ',"complete":true' WHEN 0 THEN ',"complete":false' ELSE '' END
	|| '}' AS `json`
FROM `orders`;
--> statement-breakpoint
-- The change feed: one row for each change of a public order. The last row is the current revision of the list. With the
-- public order as it was before, a list can be read as of an earlier revision while the table changes.
CREATE TABLE `order_changes` (
	-- Not AUTOINCREMENT, which would write a second row: the last row is never deleted, so no revision comes twice.
	`revision` integer PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	-- NULL: the order did not exist before.
	`json_before` text,
	-- A new random value with each revision, so that a database restored to an earlier time never repeats an ETag.
	`token` text DEFAULT (lower(hex(randomblob(8)))) NOT NULL,
	`changed_at` integer DEFAULT (unixepoch()) NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `order_changes` (`order_id`) VALUES (0);
--> statement-breakpoint
CREATE TRIGGER `orders_insert_is_a_change` AFTER INSERT ON `orders`
BEGIN
	INSERT INTO `order_changes` (`order_id`) VALUES (NEW.`id`);
END;
--> statement-breakpoint
CREATE TRIGGER `orders_update_is_a_change` BEFORE UPDATE ON `orders`
WHEN (OLD.`id`, OLD.`pet_id`, OLD.`quantity`, OLD.`ship_date`, OLD.`complete`) IS NOT (NEW.`id`, NEW.`pet_id`, NEW.`quantity`, NEW.`ship_date`, NEW.`complete`)
BEGIN
	INSERT INTO `order_changes` (`order_id`, `json_before`) SELECT `id`, `json` FROM `order_json` WHERE `id` = OLD.`id`;
	INSERT INTO `order_changes` (`order_id`) SELECT NEW.`id` WHERE NEW.`id` <> OLD.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `orders_delete_is_a_change` BEFORE DELETE ON `orders`
BEGIN
	INSERT INTO `order_changes` (`order_id`, `json_before`) SELECT `id`, `json` FROM `order_json` WHERE `id` = OLD.`id`;
END;
--> statement-breakpoint
-- One row for each import, however many requests and chunks it has. Its figures are written in the transaction of each chunk,
-- so they say what is stored. The audit log has one row for the import, which never changes and names this one.
CREATE TABLE `order_imports` (
	`number` integer PRIMARY KEY NOT NULL,
	-- Chosen by the client, so that the requests of one file are one import.
	`id` text NOT NULL,
	`file` text,
	`actor` text NOT NULL,
	`started_at_ms` integer NOT NULL,
	-- The last chunk.
	`stored_at_ms` integer NOT NULL,
	`inserted` integer NOT NULL,
	`updated` integer NOT NULL,
	`unchanged` integer NOT NULL,
	`refused` integer NOT NULL,
	-- NULL: not undone.
	`undone_at` integer,
	-- Of an import that was undone: the orders that were deleted, those set back to what they were before, and those left
	-- because they had changed since.
	`deleted` integer DEFAULT 0 NOT NULL,
	`restored` integer DEFAULT 0 NOT NULL,
	`left_alone` integer DEFAULT 0 NOT NULL
) STRICT;
--> statement-breakpoint
-- The requests of an import find it by its id.
CREATE UNIQUE INDEX `order_imports_by_id` ON `order_imports` (`id`);
--> statement-breakpoint
-- What each chunk of an import changed, so that the import can be undone. Kept for two days.
CREATE TABLE `order_import_chunks` (
	`number` integer PRIMARY KEY NOT NULL,
	`import_id` text NOT NULL,
	`stored_at` integer NOT NULL,
	-- A JSON array of [id, before, after], where before and after are [pet_id, quantity, ship_date, complete, status] and a null
	-- before means that the order is new. One row for up to 1,000 orders, because each row written is billed.
	`changes` text NOT NULL
) STRICT;
--> statement-breakpoint
-- The chunks of one import, the last one first.
CREATE INDEX `order_import_chunks_by_import` ON `order_import_chunks` (`import_id`,`number`);
