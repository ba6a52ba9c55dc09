-- Orders, loads, audit.

-- What one request, one shipment or one load has changed: their entries have the same text.
ALTER TABLE `audit_log` ADD COLUMN `batch` text;
--> statement-breakpoint
-- A random number of the transaction that wrote the entry. Its further statements find their entries by it.
ALTER TABLE `audit_log` ADD COLUMN `transaction_id` integer;
--> statement-breakpoint
CREATE INDEX `audit_log_by_batch` ON `audit_log` (`batch`,`id`) WHERE "audit_log"."batch" is not null;
--> statement-breakpoint
-- A version is the id of the audit entry that made it. A row that plain SQL inserts has version 0. Orders begin
-- with 0, as the loads of version 2.2 wrote no id: no entry of before matches.
ALTER TABLE `plans` DROP COLUMN `version`;
--> statement-breakpoint
ALTER TABLE `plans` ADD COLUMN `version` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
UPDATE `plans` SET `version` = coalesce((SELECT max(`id`) FROM `audit_log` WHERE `object` = `plans`.`id`), 0);
--> statement-breakpoint
DROP TRIGGER `api_keys_update_is_folded`;
--> statement-breakpoint
ALTER TABLE `api_keys` DROP COLUMN `version`;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD COLUMN `version` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
UPDATE `api_keys` SET `version` = coalesce((SELECT max(`id`) FROM `audit_log` WHERE `object` = `api_keys`.`id`), 0);
--> statement-breakpoint
CREATE TRIGGER `api_keys_update_is_folded` AFTER UPDATE OF `name`, `owner_name`, `owner_email`, `note` ON `api_keys`
WHEN NEW.`version` = OLD.`version` BEGIN
	UPDATE `api_keys` SET
		`search` = lower(concat_ws(char(10), `name`, `owner_name`, `owner_email`, `note`)),
		`owner_key` = lower(coalesce(`owner_name`, `owner_email`, ''))
	WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint
ALTER TABLE `orders` DROP COLUMN `version`;
--> statement-breakpoint
ALTER TABLE `orders` ADD COLUMN `version` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
-- The rows of version 2.2 have versions that no order has any more. From now on a row has, for each order that its
-- entry has changed, an array of the id and, if the order existed before, its members before.
DELETE FROM `loads`;
--> statement-breakpoint
-- The orders that an undo of a load has removed. An undo of this undo brings an order back only while its row has
-- the id of the entry: whoever stores the order again deletes the row. Retention deletes rows as it does loads.
CREATE TABLE `removed_orders` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TRIGGER `orders_insert_is_no_removal` AFTER INSERT ON `orders` BEGIN
	DELETE FROM `removed_orders` WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint
-- A dry run is the batch of a change with a last statement that inserts here: it fails, and D1 takes all back.
CREATE VIEW `dry_run` AS SELECT 1 AS `is_made`;
--> statement-breakpoint
CREATE TRIGGER `dry_run_is_taken_back` INSTEAD OF INSERT ON `dry_run` BEGIN
	SELECT RAISE(ABORT, 'this was a dry run');
END;
--> statement-breakpoint

-- The schema's number.
-- A view, so that a query of sqlite_schema reads the number in a database of any version. Each migration makes it anew.
CREATE VIEW `schema_number` AS SELECT 1 AS `number`;
