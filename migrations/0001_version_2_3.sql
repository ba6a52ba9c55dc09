-- From version 2.2 to 2.3: customers are rows. Each owner of 2.2 becomes a customer, under the key by which 2.2 told
-- owners apart: the name, or else the e-mail address, without regard to case.

CREATE TABLE `customers` (
	`id` text PRIMARY KEY NOT NULL,
	-- NOCASE, because lists are sorted by name without regard to the case of A to Z. An erased customer has its id here.
	`name` text NOT NULL COLLATE NOCASE,
	-- The name without regard to case. Accents distinguish two names.
	`name_key` text NOT NULL UNIQUE,
	-- Name, e-mail and note in the form for searches.
	`search` text DEFAULT '' NOT NULL,
	`email` text,
	`note` text,
	-- The limits of all keys together. NULL: there is none.
	`requests_per_minute` integer CHECK (`requests_per_minute` > 0),
	`requests_per_day` integer CHECK (`requests_per_day` > 0),
	`created_at` integer NOT NULL,
	`version` integer DEFAULT 0 NOT NULL,
	`erased_at` integer
) STRICT;
--> statement-breakpoint
-- The customer is called as its newest key calls it, and has the address of the newest key with one. The note has
-- the other addresses. The search text of a key had a line for each of its texts; after plain SQL, none for NULL.
INSERT INTO `customers` (`id`, `name`, `name_key`, `search`, `email`, `note`, `created_at`)
WITH `owners` AS (
	SELECT `owner_key`, `owner_name`, `owner_email`, `created_at`, 1 AS `is_present`, rowid AS `age`,
		iif(`search` = lower(concat_ws(char(10), `name`, `owner_name`, `owner_email`, `note`)), '', substr(`search`, instr(`search`, char(10)) + 1)) AS `lines`
	FROM `api_keys`
	UNION ALL
	SELECT p.`owner_key`, p.`owner_name`, p.`owner_email`, coalesce(k.`created_at`, p.`until_day`), 0, p.`until_day`, ''
	FROM `past_owners` p LEFT JOIN `api_keys` k ON k.`id` = p.`key_id`
), `named` AS (
	SELECT DISTINCT `owner_key`,
		first_value(coalesce(`owner_name`, `owner_email`)) OVER `newest` AS `name`,
		first_value(substr(`lines`, 1, max(0, instr(`lines`, char(10)) - 1))) OVER `newest` AS `folded`,
		first_value(`owner_email`) OVER (PARTITION BY `owner_key` ORDER BY `owner_email` IS NULL, `is_present` DESC, `age` DESC) AS `email`,
		min(`created_at`) OVER (PARTITION BY `owner_key`) AS `created_at`
	FROM `owners` WHERE `owner_key` <> ''
	WINDOW `newest` AS (PARTITION BY `owner_key` ORDER BY `is_present` DESC, `age` DESC)
), `noted` AS (
	SELECT *, (
		SELECT 'Other e-mail addresses: ' || group_concat(`owner_email`, ', ') FROM (
			SELECT DISTINCT o.`owner_email` FROM `owners` o WHERE o.`owner_key` = n.`owner_key` AND o.`owner_email` <> n.`email`)) AS `note`
	FROM `named` n
)
SELECT 'cus_' || hex(randomblob(6)), `name`, `owner_key`,
	concat_ws(char(10), nullif(nullif(`folded`, ''), lower(`name`)), lower(`name`), lower(`email`), lower(`note`)), `email`, `note`, `created_at`
FROM `noted`;
--> statement-breakpoint

DROP TRIGGER `api_keys_update_is_a_change_of_owner`;
--> statement-breakpoint
DROP TRIGGER `api_keys_insert_is_folded`;
--> statement-breakpoint
DROP TRIGGER `api_keys_update_is_folded`;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `customer_id` text REFERENCES `customers`(`id`);
--> statement-breakpoint
-- The plan that a key gets at a midnight, in Unix seconds. From then on its limits count, whether or not the cron has
-- made it the key's plan.
ALTER TABLE `api_keys` ADD `next_plan` text REFERENCES `plans`(`id`);
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `next_plan_from` integer
	CHECK((`next_plan` is null) = (`next_plan_from` is null) and coalesce(`next_plan_from` % 86400, 0) = 0);
--> statement-breakpoint
CREATE INDEX `api_keys_by_next_plan` ON `api_keys` (`next_plan_from`) WHERE "api_keys"."next_plan_from" is not null;
--> statement-breakpoint
DROP TRIGGER `api_keys_update_is_outdated`;
--> statement-breakpoint
CREATE TRIGGER `api_keys_update_is_outdated` AFTER UPDATE OF `plan`, `next_plan`, `next_plan_from`, `requests_per_minute`, `requests_per_day`,
	`temporary_requests_per_minute`, `temporary_requests_per_day`, `temporary_until`, `status`, `may_cancel`, `expires_at`,
	`banned_until`, `ban_reason`, `pardoned_ban_id` ON `api_keys` WHEN EXISTS (SELECT 1 FROM `limiters` WHERE `key_id` = NEW.`id`) BEGIN
	INSERT INTO `outdated_keys` (`key_id`) VALUES (NEW.`id`) ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
DROP TRIGGER `plans_update_is_outdated`;
--> statement-breakpoint
CREATE TRIGGER `plans_update_is_outdated` AFTER UPDATE OF `requests_per_minute`, `requests_per_day`, `alert_percents` ON `plans` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `id` FROM `api_keys`
	WHERE (`plan` = NEW.`id` OR `id` IN (SELECT `id` FROM `api_keys` WHERE `next_plan_from` IS NOT NULL AND `next_plan` = NEW.`id`))
		AND `status` <> 'revoked' AND `id` IN (SELECT `key_id` FROM `limiters`)
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
-- The search text of a key keeps the lines of name and note.
UPDATE `api_keys` SET
	`customer_id` = (SELECT `id` FROM `customers` WHERE `name_key` = `owner_key`),
	`search` = CASE
		WHEN `search` = lower(concat_ws(char(10), `name`, `owner_name`, `owner_email`, `note`)) THEN lower(concat_ws(char(10), `name`, `note`))
		ELSE (
			SELECT substr(`search`, 1, instr(`search`, char(10))) || substr(`third`, instr(`third`, char(10)) + 1) FROM (
				SELECT substr(`second`, instr(`second`, char(10)) + 1) AS `third` FROM (
					SELECT substr(`search`, instr(`search`, char(10)) + 1) AS `second`)))
		END;
--> statement-breakpoint

-- A row of usage belongs to the customer and the plan of its day: those of `past_owners`, or else of the key. The
-- table is made anew, so that `hours` stays the last column, which sums do not read.
CREATE TABLE `new_usage` (
	-- The start of the UTC day in Unix seconds.
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	-- Whose the key was, and under which plan, at the day's first report. A later change moves no past use.
	`customer_id` text,
	-- Empty: of a day before version 2.3, and the key is deleted.
	`plan` text NOT NULL,
	-- The sums of the hours.
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	-- The limit in force at the day's last reported request. A later limit changes no past day.
	`limit_per_day` integer NOT NULL CHECK (`limit_per_day` > 0),
	-- JSON: when each secret was used last, by its id, in Unix seconds. The newest row of a key has all that is known.
	`secrets` text DEFAULT '{}' NOT NULL,
	-- JSON: the figures of each hour, as src/worker/key/usage-day.ts writes and reads them.
	`hours` text NOT NULL,
	PRIMARY KEY(`day`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `new_usage`
SELECT u.`day`, u.`key_id`,
	iif(p.`key_id` IS NULL, k.`customer_id`, (SELECT `id` FROM `customers` WHERE `name_key` = p.`owner_key`)),
	coalesce(p.`plan`, k.`plan`, ''), u.`admitted`, u.`refused`, u.`refused_while_banned`, u.`limit_per_day`, '{}', u.`hours`
FROM `usage` u LEFT JOIN `api_keys` k ON k.`id` = u.`key_id`
LEFT JOIN `past_owners` p ON p.`key_id` = u.`key_id`
	AND p.`until_day` = (SELECT min(`until_day`) FROM `past_owners` WHERE `key_id` = u.`key_id` AND `until_day` > u.`day`)
-- In the order of the primary keys. SQLite would else go by `usage_by_key`, which takes ten times as long.
ORDER BY u.`day`, u.`key_id`;
--> statement-breakpoint
DROP TABLE `usage`;
--> statement-breakpoint
ALTER TABLE `new_usage` RENAME TO `usage`;
--> statement-breakpoint
-- The days of a key, and the day of the key's last request.
CREATE INDEX `usage_by_key` ON `usage` (`key_id`,`day`);
--> statement-breakpoint
-- The days of a customer, and a merge.
CREATE INDEX `usage_by_customer` ON `usage` (`customer_id`,`day`) WHERE "usage"."customer_id" is not null;
--> statement-breakpoint
-- The days near their limit: 80 is NEAR_LIMIT_PERCENT of src/worker/db/values.ts.
CREATE INDEX `usage_near_limit` ON `usage` (`day`, 100.0 * `admitted` / `limit_per_day`) WHERE 100.0 * `admitted` / `limit_per_day` >= 80;
--> statement-breakpoint

-- Sums of `usage`, so that few rows answer what is asked often or about many days (ADR-41). Triggers keep them.
CREATE TABLE `plan_days` (
	`day` integer NOT NULL,
	`plan` text NOT NULL,
	-- The rows of `usage`.
	`keys` integer NOT NULL,
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	PRIMARY KEY(`day`, `plan`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `plan_days`
SELECT `day`, `plan`, count(*), sum(`admitted`), sum(`refused`), sum(`refused_while_banned`) FROM `usage` GROUP BY `day`, `plan`;
--> statement-breakpoint
CREATE TRIGGER `usage_insert_is_summed` AFTER INSERT ON `usage` BEGIN
	INSERT INTO `plan_days` VALUES (NEW.`day`, NEW.`plan`, 1, NEW.`admitted`, NEW.`refused`, NEW.`refused_while_banned`)
	ON CONFLICT DO UPDATE SET `keys` = `keys` + 1, `admitted` = `admitted` + excluded.`admitted`,
		`refused` = `refused` + excluded.`refused`, `refused_while_banned` = `refused_while_banned` + excluded.`refused_while_banned`;
END;
--> statement-breakpoint
-- A report writes one row here.
CREATE TRIGGER `usage_update_is_summed` AFTER UPDATE OF `admitted`, `refused`, `refused_while_banned` ON `usage` WHEN (OLD.`day`, OLD.`plan`) = (NEW.`day`, NEW.`plan`) BEGIN
	UPDATE `plan_days` SET `admitted` = `admitted` + NEW.`admitted` - OLD.`admitted`, `refused` = `refused` + NEW.`refused` - OLD.`refused`,
		`refused_while_banned` = `refused_while_banned` + NEW.`refused_while_banned` - OLD.`refused_while_banned`
	WHERE `day` = NEW.`day` AND `plan` = NEW.`plan`
		AND (OLD.`admitted`, OLD.`refused`, OLD.`refused_while_banned`) <> (NEW.`admitted`, NEW.`refused`, NEW.`refused_while_banned`);
END;
--> statement-breakpoint
CREATE TRIGGER `usage_delete_is_summed` AFTER DELETE ON `usage` BEGIN
	UPDATE `plan_days` SET `keys` = `keys` - 1, `admitted` = `admitted` - OLD.`admitted`, `refused` = `refused` - OLD.`refused`,
		`refused_while_banned` = `refused_while_banned` - OLD.`refused_while_banned`
	WHERE `day` = OLD.`day` AND `plan` = OLD.`plan`;
	DELETE FROM `plan_days` WHERE `day` = OLD.`day` AND `plan` = OLD.`plan` AND `keys` = 0;
END;
--> statement-breakpoint
-- Only plain SQL moves a row to another day or plan.
CREATE TRIGGER `usage_move_is_summed` AFTER UPDATE OF `day`, `plan` ON `usage` WHEN (OLD.`day`, OLD.`plan`) <> (NEW.`day`, NEW.`plan`) BEGIN
	UPDATE `plan_days` SET `keys` = `keys` - 1, `admitted` = `admitted` - OLD.`admitted`, `refused` = `refused` - OLD.`refused`,
		`refused_while_banned` = `refused_while_banned` - OLD.`refused_while_banned`
	WHERE `day` = OLD.`day` AND `plan` = OLD.`plan`;
	DELETE FROM `plan_days` WHERE `day` = OLD.`day` AND `plan` = OLD.`plan` AND `keys` = 0;
	INSERT INTO `plan_days` VALUES (NEW.`day`, NEW.`plan`, 1, NEW.`admitted`, NEW.`refused`, NEW.`refused_while_banned`)
	ON CONFLICT DO UPDATE SET `keys` = `keys` + 1, `admitted` = `admitted` + excluded.`admitted`,
		`refused` = `refused` + excluded.`refused`, `refused_while_banned` = `refused_while_banned` + excluded.`refused_while_banned`;
END;
--> statement-breakpoint
-- A key's finished days of a fortnight of Unix time. By the limit of the day, so that percentages are exact.
CREATE TABLE `key_fortnights` (
	`start` integer NOT NULL,
	`key_id` text NOT NULL,
	-- Empty: no customer.
	`customer_id` text NOT NULL,
	`plan` text NOT NULL,
	`limit_per_day` integer NOT NULL,
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	-- The days near the limit, and the most admitted requests of a day.
	`days_near` integer NOT NULL,
	`peak` integer NOT NULL,
	PRIMARY KEY(`start`, `key_id`, `customer_id`, `plan`, `limit_per_day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- One row: `key_fortnights` has all days before this one. The hourly cron moves it on.
CREATE TABLE `key_fortnights_end` (
	`id` integer PRIMARY KEY CHECK (`id` = 1),
	`day` integer NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `key_fortnights_end` VALUES (1, unixepoch('now', 'start of day'));
--> statement-breakpoint
-- Who inserts a key and a day here sums the key's fortnight anew.
CREATE VIEW `key_fortnights_anew` AS SELECT `key_id`, `day` FROM `usage`;
--> statement-breakpoint
CREATE TRIGGER `key_fortnights_are_summed` INSTEAD OF INSERT ON `key_fortnights_anew`
WHEN NEW.`day` < (SELECT `day` FROM `key_fortnights_end`) BEGIN
	DELETE FROM `key_fortnights` WHERE `start` = NEW.`day` - NEW.`day` % 1209600 AND `key_id` = NEW.`key_id`;
	INSERT INTO `key_fortnights`
	SELECT NEW.`day` - NEW.`day` % 1209600, `key_id`, coalesce(`customer_id`, ''), `plan`, `limit_per_day`, sum(`admitted`), sum(`refused`),
		sum(`refused_while_banned`), sum(100.0 * `admitted` / `limit_per_day` >= 80), max(`admitted`)
	FROM `usage`
	WHERE `key_id` = NEW.`key_id` AND `day` >= NEW.`day` - NEW.`day` % 1209600
		AND `day` < min(NEW.`day` - NEW.`day` % 1209600 + 1209600, (SELECT `day` FROM `key_fortnights_end`))
	GROUP BY 3, 4, 5;
END;
--> statement-breakpoint
-- As the trigger does it, in half the time.
INSERT INTO `key_fortnights`
SELECT `day` - `day` % 1209600, `key_id`, coalesce(`customer_id`, ''), `plan`, `limit_per_day`, sum(`admitted`), sum(`refused`),
	sum(`refused_while_banned`), sum(100.0 * `admitted` / `limit_per_day` >= 80), max(`admitted`)
FROM `usage` WHERE `day` < (SELECT `day` FROM `key_fortnights_end`) GROUP BY 1, 2, 3, 4, 5;
--> statement-breakpoint
-- A late report, a merge, retention, plain SQL.
CREATE TRIGGER `usage_insert_changes_fortnight` AFTER INSERT ON `usage` WHEN NEW.`day` < (SELECT `day` FROM `key_fortnights_end`) BEGIN
	INSERT INTO `key_fortnights_anew` VALUES (NEW.`key_id`, NEW.`day`);
END;
--> statement-breakpoint
CREATE TRIGGER `usage_update_changes_fortnight` AFTER UPDATE OF `day`, `key_id`, `plan`, `admitted`, `refused`, `refused_while_banned`, `limit_per_day` ON `usage`
WHEN min(OLD.`day`, NEW.`day`) < (SELECT `day` FROM `key_fortnights_end`) BEGIN
	INSERT INTO `key_fortnights_anew` SELECT OLD.`key_id`, OLD.`day` UNION SELECT NEW.`key_id`, NEW.`day`;
END;
--> statement-breakpoint
-- A merge moves the sums of a customer before the days, so the trigger finds no sum and does nothing.
CREATE TRIGGER `usage_customer_changes_fortnight` AFTER UPDATE OF `customer_id` ON `usage`
WHEN EXISTS (
	SELECT 1 FROM `key_fortnights` WHERE `start` = OLD.`day` - OLD.`day` % 1209600 AND `key_id` = OLD.`key_id`
		AND `customer_id` = coalesce(OLD.`customer_id`, '') AND OLD.`customer_id` IS NOT NEW.`customer_id`) BEGIN
	INSERT INTO `key_fortnights_anew` VALUES (NEW.`key_id`, NEW.`day`);
END;
--> statement-breakpoint
CREATE TRIGGER `usage_delete_changes_fortnight` AFTER DELETE ON `usage` WHEN OLD.`day` < (SELECT `day` FROM `key_fortnights_end`) BEGIN
	INSERT INTO `key_fortnights_anew` VALUES (OLD.`key_id`, OLD.`day`);
END;
--> statement-breakpoint

-- How many keys have each stored status.
CREATE TABLE `key_counts` (
	`status` text PRIMARY KEY NOT NULL,
	`keys` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `key_counts` SELECT column1, (SELECT count(*) FROM `api_keys` WHERE `status` = column1) FROM (VALUES ('active'), ('disabled'), ('revoked'));
--> statement-breakpoint
CREATE TRIGGER `api_keys_insert_counts_status` AFTER INSERT ON `api_keys` BEGIN
	UPDATE `key_counts` SET `keys` = `keys` + 1 WHERE `status` = NEW.`status`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_update_counts_status` AFTER UPDATE OF `status` ON `api_keys` WHEN OLD.`status` <> NEW.`status` BEGIN
	UPDATE `key_counts` SET `keys` = `keys` + iif(`status` = NEW.`status`, 1, -1) WHERE `status` IN (OLD.`status`, NEW.`status`);
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_delete_counts_status` AFTER DELETE ON `api_keys` BEGIN
	UPDATE `key_counts` SET `keys` = `keys` - 1 WHERE `status` = OLD.`status`;
END;
--> statement-breakpoint

-- A ban belongs to the customer whose key it was when the ban began.
ALTER TABLE `bans` ADD `customer_id` text;
--> statement-breakpoint
UPDATE `bans` SET `customer_id` = iif(
	EXISTS (SELECT 1 FROM `past_owners` WHERE `key_id` = `bans`.`key_id` AND `until_day` > `started_at`),
	(SELECT `id` FROM `customers` WHERE `name_key` = (
		SELECT `owner_key` FROM `past_owners` WHERE `key_id` = `bans`.`key_id` AND `until_day` > `started_at` ORDER BY `until_day` LIMIT 1)),
	(SELECT `customer_id` FROM `api_keys` WHERE `id` = `bans`.`key_id`));
--> statement-breakpoint
-- The bans of a customer, newest first.
CREATE INDEX `bans_by_customer` ON `bans` (`customer_id`,`started_at`,`id`) WHERE "bans"."customer_id" is not null;
--> statement-breakpoint

-- A link is of a customer. A link of a name without a key that is not revoked is deleted: it would open the keys of
-- whoever gets this name later.
CREATE TABLE `new_owner_links` (
	`id` text PRIMARY KEY NOT NULL,
	-- SHA-256 of the link's code, in lower-case hex.
	`hash` text NOT NULL,
	`customer_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`ends_at` integer NOT NULL,
	-- The minute in which the page was last opened with the link. NULL: not since version 2.3.
	`opened_at` integer,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `new_owner_links`
SELECT l.`id`, l.`hash`, c.`id`, l.`created_at`, l.`created_by`, l.`ends_at`, NULL FROM `owner_links` l JOIN `customers` c ON c.`name_key` = l.`owner_key`
WHERE EXISTS (SELECT 1 FROM `api_keys` WHERE `customer_id` = c.`id` AND `status` <> 'revoked');
--> statement-breakpoint
DROP TABLE `owner_links`;
--> statement-breakpoint
ALTER TABLE `new_owner_links` RENAME TO `owner_links`;
--> statement-breakpoint

DROP TABLE `past_owners`;
--> statement-breakpoint
DROP INDEX `api_keys_by_owner`;
--> statement-breakpoint
DROP INDEX `api_keys_by_owner_key`;
--> statement-breakpoint
ALTER TABLE `api_keys` DROP COLUMN `owner_name`;
--> statement-breakpoint
ALTER TABLE `api_keys` DROP COLUMN `owner_email`;
--> statement-breakpoint
ALTER TABLE `api_keys` DROP COLUMN `owner_key`;
--> statement-breakpoint
-- The keys of a customer.
CREATE INDEX `api_keys_by_customer` ON `api_keys` (`customer_id`,`id`);
--> statement-breakpoint
-- The admin API writes the folded texts and raises the version. After plain SQL, lower() folds only A to Z.
CREATE TRIGGER `api_keys_insert_is_folded` AFTER INSERT ON `api_keys` WHEN NEW.`search` = '' BEGIN
	UPDATE `api_keys` SET `search` = lower(concat_ws(char(10), `name`, `note`)) WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint
-- The limiter of a customer has its id as name, and its rows in `limiters` and `outdated_keys`. Policies of its keys
-- say whether there is a limit.
CREATE TRIGGER `customers_update_is_outdated` AFTER UPDATE OF `requests_per_minute`, `requests_per_day` ON `customers` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `id` FROM (
		SELECT NEW.`id` UNION ALL
		SELECT `id` FROM `api_keys` WHERE `customer_id` = NEW.`id` AND `status` <> 'revoked'
			AND (coalesce(OLD.`requests_per_minute`, OLD.`requests_per_day`) IS NULL) <> (coalesce(NEW.`requests_per_minute`, NEW.`requests_per_day`) IS NULL))
	WHERE `id` IN (SELECT `key_id` FROM `limiters`)
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
-- INSERT OR REPLACE fires no other trigger.
CREATE TRIGGER `customers_insert_is_outdated` AFTER INSERT ON `customers` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `id` FROM (
		SELECT NEW.`id` UNION ALL SELECT `id` FROM `api_keys` WHERE `customer_id` = NEW.`id` AND `status` <> 'revoked')
	WHERE `id` IN (SELECT `key_id` FROM `limiters`)
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_move_is_outdated` AFTER UPDATE OF `customer_id` ON `api_keys`
WHEN EXISTS (SELECT 1 FROM `limiters` WHERE `key_id` = NEW.`id`) AND EXISTS (
	SELECT 1 FROM `customers` WHERE `id` IN (OLD.`customer_id`, NEW.`customer_id`) AND coalesce(`requests_per_minute`, `requests_per_day`) IS NOT NULL) BEGIN
	INSERT INTO `outdated_keys` (`key_id`) VALUES (NEW.`id`) ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
-- The links of a customer end with the last key that is not revoked: whoever has the name later is somebody else.
CREATE TRIGGER `api_keys_last_key_ends_links` AFTER UPDATE OF `customer_id`, `status` ON `api_keys`
WHEN NOT EXISTS (SELECT 1 FROM `api_keys` WHERE `customer_id` = OLD.`customer_id` AND `status` <> 'revoked') BEGIN
	DELETE FROM `owner_links` WHERE `customer_id` = OLD.`customer_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_last_delete_ends_links` AFTER DELETE ON `api_keys`
WHEN NOT EXISTS (SELECT 1 FROM `api_keys` WHERE `customer_id` = OLD.`customer_id` AND `status` <> 'revoked') BEGIN
	DELETE FROM `owner_links` WHERE `customer_id` = OLD.`customer_id`;
END;
--> statement-breakpoint

-- The id of a session for operators, who see and end sessions.
ALTER TABLE `console_sessions` ADD COLUMN `id` text GENERATED ALWAYS AS ('session_' || substr(`id_hash`, 1, 16)) VIRTUAL;
--> statement-breakpoint

-- An alert is of a key, or of a customer and no key.
CREATE TABLE `new_alerts` (
	-- The receiver's `webhook-id`. An event that can be found twice, such as a day's usage, keeps its id.
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL CHECK (`type` IN ('ban.started', 'ban.set', 'ban.lifted', 'key.usage', 'key.expiring', 'owner.link', 'customer.usage')),
	`key_id` text,
	`at` integer NOT NULL,
	`text` text NOT NULL,
	`data` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	-- NULL: the alert was delivered or given up.
	`next_attempt_at` integer,
	`delivered_at` integer,
	`last_error` text
) STRICT;
--> statement-breakpoint
INSERT INTO `new_alerts` SELECT * FROM `alerts`;
--> statement-breakpoint
DROP TABLE `alerts`;
--> statement-breakpoint
ALTER TABLE `new_alerts` RENAME TO `alerts`;
--> statement-breakpoint
-- The alerts that are due.
CREATE INDEX `alerts_by_next_attempt` ON `alerts` (`next_attempt_at`) WHERE "alerts"."next_attempt_at" is not null;
--> statement-breakpoint
-- All alerts, newest first, and retention.
CREATE INDEX `alerts_by_time` ON `alerts` (`at`,`id`);
--> statement-breakpoint

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
ALTER TABLE `api_keys` DROP COLUMN `version`;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD COLUMN `version` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
-- An entry of an owner's name or address has members that a key has no longer, so it has no key's version.
UPDATE `api_keys` SET `version` = coalesce((
	SELECT iif(`before` -> '$.ownerName' IS NULL AND `before` -> '$.ownerEmail' IS NULL, max(`id`), 0)
	FROM `audit_log` WHERE `object` = `api_keys`.`id`), 0);
--> statement-breakpoint
CREATE TRIGGER `api_keys_update_is_folded` AFTER UPDATE OF `name`, `note` ON `api_keys` WHEN NEW.`version` = OLD.`version` BEGIN
	UPDATE `api_keys` SET `search` = lower(concat_ws(char(10), `name`, `note`)) WHERE `id` = NEW.`id`;
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
CREATE INDEX `cancelled_orders_by_key` ON `cancelled_orders` (`cancelled_by`,`cancelled_at`);
--> statement-breakpoint
-- A dry run is the batch of a change with a last statement that inserts here: it fails, and D1 takes all back.
CREATE VIEW `dry_run` AS SELECT 1 AS `is_made`;
--> statement-breakpoint
CREATE TRIGGER `dry_run_is_taken_back` INSTEAD OF INSERT ON `dry_run` BEGIN
	SELECT RAISE(ABORT, 'this was a dry run');
END;
--> statement-breakpoint

-- The erasure of a customer takes names, addresses and notes out of entries. It is the only change of an entry:
-- each of these members becomes 'erased', and so does the owner's name in the actor of an entry before version 2.3.
DROP TRIGGER `audit_log_never_changes`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_never_changes` BEFORE UPDATE ON `audit_log`
WHEN (OLD.`id`, OLD.`at`, OLD.`request_id`, OLD.`call`, OLD.`batch`, OLD.`object`, OLD.`transaction_id`) IS NOT (NEW.`id`, NEW.`at`, NEW.`request_id`, NEW.`call`, NEW.`batch`, NEW.`object`, NEW.`transaction_id`)
	OR (NEW.`actor` <> OLD.`actor` AND NOT (OLD.`actor` GLOB 'owner (*)' AND NEW.`actor` = 'owner (erased)'))
	OR (NEW.`before` IS NOT OLD.`before` AND NEW.`before` IS NOT json_replace(OLD.`before`, '$.name', 'erased', '$.email', 'erased', '$.note', 'erased', '$.ownerName', 'erased', '$.ownerEmail', 'erased', '$.owner', 'erased'))
	OR (NEW.`after` IS NOT OLD.`after` AND NEW.`after` IS NOT json_replace(OLD.`after`, '$.name', 'erased', '$.email', 'erased', '$.note', 'erased', '$.ownerName', 'erased', '$.ownerEmail', 'erased', '$.owner', 'erased'))
BEGIN
	SELECT RAISE(ABORT, 'an audit entry cannot be changed');
END;
--> statement-breakpoint

-- The schema's number.
-- A view, so that a query of sqlite_schema reads the number in a database of any version. Each migration makes it anew.
CREATE VIEW `schema_number` AS SELECT 1 AS `number`;
