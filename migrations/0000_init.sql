-- Plans and their limits, API keys, and the keys' secrets.

CREATE TABLE `plans` (
	`id` text PRIMARY KEY NOT NULL,
	-- NULL: the plan has no limit of its own, and each of its keys must have one.
	`requests_per_minute` integer CHECK (`requests_per_minute` > 0),
	`requests_per_day` integer CHECK (`requests_per_day` > 0),
	-- JSON: the shares of a key's day, in percent, that cause an alert. NULL: none.
	`alert_percents` text DEFAULT '[80,100]' CHECK (json_type(`alert_percents`) = 'array'),
	-- How many keys are not revoked. Triggers keep the number, because a count would read all keys.
	`key_count` integer DEFAULT 0 NOT NULL,
	-- How many keys that are not revoked have no limit of their own and rely on the plan's limit.
	`keys_without_minute_limit` integer DEFAULT 0 NOT NULL,
	`keys_without_day_limit` integer DEFAULT 0 NOT NULL,
	-- Each change of the limits raises the version.
	`version` integer DEFAULT 1 NOT NULL,
	-- No key can be without a limit, even after plain SQL. INSERT OR REPLACE is the exception: it deletes rows
	-- without their triggers.
	CONSTRAINT "plans_limits_of_keys" CHECK(("plans"."requests_per_minute" is not null or "plans"."keys_without_minute_limit" = 0) and ("plans"."requests_per_day" is not null or "plans"."keys_without_day_limit" = 0))
) STRICT;
--> statement-breakpoint
INSERT INTO `plans` (`id`, `requests_per_minute`, `requests_per_day`) VALUES
	('free', 60, 1000),
	('pro', 300, 10000),
	('business', 1000, 100000),
	('enterprise', NULL, NULL);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	-- NOCASE, because the list of keys is sorted by name and by owner, without regard to the case of A to Z.
	`name` text NOT NULL COLLATE NOCASE,
	`owner_name` text COLLATE NOCASE,
	`owner_email` text,
	`note` text,
	-- The four texts above in the form for searches, one text a line.
	`search` text DEFAULT '' NOT NULL,
	-- The owner's name, or else the owner's e-mail, folded. Empty: no owner.
	`owner_key` text DEFAULT '' NOT NULL,
	`plan` text NOT NULL,
	-- NULL: the plan's limit counts.
	`requests_per_minute` integer CHECK (`requests_per_minute` > 0),
	`requests_per_day` integer CHECK (`requests_per_day` > 0),
	-- Temporary limits replace the limits above and the plan's limits until their end. The end is a UTC
	-- midnight, so it never lies within a minute or a day.
	`temporary_requests_per_minute` integer CHECK (`temporary_requests_per_minute` > 0),
	`temporary_requests_per_day` integer CHECK (`temporary_requests_per_day` > 0),
	`temporary_until` integer CHECK (`temporary_until` % 86400 = 0),
	`status` text DEFAULT 'active' NOT NULL,
	-- 0: the key may only list orders.
	`may_cancel` integer DEFAULT 1 NOT NULL CHECK (`may_cancel` IN (0, 1)),
	`expires_at` integer,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	-- When the first request was admitted. NULL: none was.
	`first_used_at` integer,
	-- A location hint for the limiter. NULL: near the first request.
	`location` text CHECK (`location` IN ('wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me')),
	-- A ban that an operator set.
	`banned_until` integer,
	`ban_reason` text,
	-- The last ban for strikes, if an operator has lifted or replaced that ban.
	`pardoned_ban_id` text,
	FOREIGN KEY (`plan`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "api_keys_status" CHECK("api_keys"."status" in ('active', 'disabled', 'revoked')),
	CONSTRAINT "api_keys_temporary_limits" CHECK(("api_keys"."temporary_until" is null) = (coalesce("api_keys"."temporary_requests_per_minute", "api_keys"."temporary_requests_per_day") is null))
) STRICT;
--> statement-breakpoint
-- The list of a plan's keys, in the order in which the keys were stored: an index ends with the rowid.
CREATE INDEX `api_keys_by_plan` ON `api_keys` (`plan`);
--> statement-breakpoint
-- The list of keys in other orders.
CREATE INDEX `api_keys_by_name` ON `api_keys` (`name`,`id`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_owner` ON `api_keys` (`owner_name`,`id`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_owner_key` ON `api_keys` (`owner_key`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_expiry` ON `api_keys` (`expires_at`,`id`);
--> statement-breakpoint
CREATE TABLE `key_secrets` (
	-- SHA-256 of the whole key, in lower-case hex. WITHOUT ROWID, so a lookup by hash searches only one tree.
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`hint` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- A rotation, and the page of a key.
CREATE INDEX `key_secrets_by_key` ON `key_secrets` (`key_id`);
--> statement-breakpoint
-- The search by the last characters of a secret, because people read them out.
CREATE INDEX `key_secrets_by_last_chars` ON `key_secrets` (substr(`hint`, -4) COLLATE NOCASE);
--> statement-breakpoint
-- Retention deletes by end.
CREATE INDEX `key_secrets_by_end` ON `key_secrets` (`expires_at`) WHERE "key_secrets"."expires_at" is not null;
--> statement-breakpoint

-- The MAC keys. The newest MAC key signs API keys, and the MAC of every row is accepted.
CREATE TABLE `mac_keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`key` text NOT NULL CHECK (length(`key`) = 64)
) STRICT;
--> statement-breakpoint
INSERT INTO `mac_keys` (`key`) VALUES (lower(hex(randomblob(32))));
--> statement-breakpoint

-- A revoked key stays revoked, even with plain SQL.
CREATE TRIGGER `api_keys_stay_revoked` BEFORE UPDATE OF `status` ON `api_keys`
WHEN OLD.`status` = 'revoked' AND NEW.`status` <> 'revoked'
BEGIN
	SELECT RAISE(ABORT, 'a revoked key stays revoked');
END;
--> statement-breakpoint
-- SQLite fires no trigger for the row that INSERT OR REPLACE deletes, so the trigger above misses the row.
CREATE TRIGGER `api_keys_revoked_is_not_replaced` BEFORE INSERT ON `api_keys`
WHEN EXISTS (SELECT 1 FROM `api_keys` WHERE `id` = NEW.`id` AND `status` = 'revoked')
BEGIN
	SELECT RAISE(ABORT, 'a revoked key stays revoked');
END;
--> statement-breakpoint

-- The admin API writes the folded texts and raises the version. After plain SQL, lower() folds only A to Z.
CREATE TRIGGER `api_keys_insert_is_folded` AFTER INSERT ON `api_keys` WHEN NEW.`search` = '' BEGIN
	UPDATE `api_keys` SET
		`search` = lower(concat_ws(char(10), `name`, `owner_name`, `owner_email`, `note`)),
		`owner_key` = lower(coalesce(`owner_name`, `owner_email`, ''))
	WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_update_is_folded` AFTER UPDATE OF `name`, `owner_name`, `owner_email`, `note` ON `api_keys`
WHEN NEW.`version` = OLD.`version` BEGIN
	UPDATE `api_keys` SET
		`search` = lower(concat_ws(char(10), `name`, `owner_name`, `owner_email`, `note`)),
		`owner_key` = lower(coalesce(`owner_name`, `owner_email`, ''))
	WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint

-- These triggers count a plan's keys. A revoked key needs no limits, so a plan that has only revoked keys may
-- lose its limits.
CREATE TRIGGER `api_keys_insert_is_counted` AFTER INSERT ON `api_keys`
WHEN NEW.`status` <> 'revoked'
BEGIN
	UPDATE `plans` SET
		`key_count` = `key_count` + 1,
		`keys_without_minute_limit` = `keys_without_minute_limit` + (NEW.`requests_per_minute` IS NULL),
		`keys_without_day_limit` = `keys_without_day_limit` + (NEW.`requests_per_day` IS NULL)
	WHERE `id` = NEW.`plan`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_update_is_counted` AFTER UPDATE OF `plan`, `status`, `requests_per_minute`, `requests_per_day` ON `api_keys`
BEGIN
	UPDATE `plans` SET
		`key_count` = `key_count` - 1,
		`keys_without_minute_limit` = `keys_without_minute_limit` - (OLD.`requests_per_minute` IS NULL),
		`keys_without_day_limit` = `keys_without_day_limit` - (OLD.`requests_per_day` IS NULL)
	WHERE `id` = OLD.`plan` AND OLD.`status` <> 'revoked';
	UPDATE `plans` SET
		`key_count` = `key_count` + 1,
		`keys_without_minute_limit` = `keys_without_minute_limit` + (NEW.`requests_per_minute` IS NULL),
		`keys_without_day_limit` = `keys_without_day_limit` + (NEW.`requests_per_day` IS NULL)
	WHERE `id` = NEW.`plan` AND NEW.`status` <> 'revoked';
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_delete_is_counted` AFTER DELETE ON `api_keys`
WHEN OLD.`status` <> 'revoked'
BEGIN
	UPDATE `plans` SET
		`key_count` = `key_count` - 1,
		`keys_without_minute_limit` = `keys_without_minute_limit` - (OLD.`requests_per_minute` IS NULL),
		`keys_without_day_limit` = `keys_without_day_limit` - (OLD.`requests_per_day` IS NULL)
	WHERE `id` = OLD.`plan`;
END;
--> statement-breakpoint

-- The keys whose limiters have read a policy, and must be told of a change. Only a client's request may create
-- a limiter. A row stays when its key is deleted, because the limiter stays.
CREATE TABLE `limiters` (
	`key_id` text PRIMARY KEY NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- The keys whose limiters have not been told of a change. Triggers write the rows in the transaction of the
-- change, whoever makes the change. Each change sets a new token. Whoever told the limiter deletes the row
-- only if the token is still the same.
CREATE TABLE `outdated_keys` (
	`key_id` text PRIMARY KEY NOT NULL,
	`token` text DEFAULT (lower(hex(randomblob(8)))) NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- These columns are part of a policy.
CREATE TRIGGER `api_keys_update_is_outdated` AFTER UPDATE OF `plan`, `requests_per_minute`, `requests_per_day`,
	`temporary_requests_per_minute`, `temporary_requests_per_day`, `temporary_until`, `status`, `may_cancel`, `expires_at`,
	`banned_until`, `ban_reason`, `pardoned_ban_id` ON `api_keys` WHEN EXISTS (SELECT 1 FROM `limiters` WHERE `key_id` = NEW.`id`) BEGIN
	INSERT INTO `outdated_keys` (`key_id`) VALUES (NEW.`id`) ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
-- SQLite fires no trigger for the row that INSERT OR REPLACE deletes. A key that was deleted can come back, too.
CREATE TRIGGER `api_keys_insert_is_outdated` AFTER INSERT ON `api_keys`
WHEN EXISTS (SELECT 1 FROM `limiters` WHERE `key_id` = NEW.`id`) BEGIN
	INSERT INTO `outdated_keys` (`key_id`) VALUES (NEW.`id`) ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_secrets_insert_is_outdated` AFTER INSERT ON `key_secrets` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `key_id` FROM `limiters` WHERE `key_id` = NEW.`key_id`
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_secrets_update_is_outdated` AFTER UPDATE ON `key_secrets` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `key_id` FROM `limiters` WHERE `key_id` IN (OLD.`key_id`, NEW.`key_id`)
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
-- An ended secret decides nothing, so no limiter has to know that retention deletes its row.
CREATE TRIGGER `key_secrets_delete_is_outdated` AFTER DELETE ON `key_secrets`
WHEN OLD.`expires_at` IS NULL OR OLD.`expires_at` > unixepoch() BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `key_id` FROM `limiters` WHERE `key_id` = OLD.`key_id`
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
CREATE TRIGGER `plans_update_is_outdated` AFTER UPDATE OF `requests_per_minute`, `requests_per_day`, `alert_percents` ON `plans` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `id` FROM `api_keys` WHERE `plan` = NEW.`id` AND `status` <> 'revoked' AND `id` IN (SELECT `key_id` FROM `limiters`)
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint
CREATE TRIGGER `plans_insert_is_outdated` AFTER INSERT ON `plans` BEGIN
	INSERT INTO `outdated_keys` (`key_id`) SELECT `id` FROM `api_keys` WHERE `plan` = NEW.`id` AND `status` <> 'revoked' AND `id` IN (SELECT `key_id` FROM `limiters`)
	ON CONFLICT DO UPDATE SET `token` = excluded.`token`;
END;
--> statement-breakpoint

-- Orders, cancelled orders, and a change feed that makes an unchanged list cheap and every list a snapshot.

CREATE TABLE `orders` (
	`id` integer PRIMARY KEY NOT NULL,
	`pet_id` integer,
	`quantity` integer,
	-- RFC 3339 in UTC with milliseconds, in exactly this form, because the list copies the text into JSON. The
	-- modifier '+0 days' makes SQLite normalise the date, so that 30 February and 24:00 become another text.
	`ship_date` text CHECK (`ship_date` IS strftime('%Y-%m-%dT%H:%M:%fZ', `ship_date`, '+0 days')),
	`complete` integer CHECK (`complete` IN (0, 1)),
	-- The status decides whether the order can be cancelled. It is not part of the public order.
	`status` text DEFAULT 'pending' NOT NULL,
	-- Each change raises the version. It is not part of the public order.
	`version` integer DEFAULT 1 NOT NULL,
	CONSTRAINT "orders_status" CHECK("orders"."status" in ('pending', 'processing', 'shipped', 'delivered'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `cancelled_orders` (
	`id` integer PRIMARY KEY NOT NULL,
	-- Not unique, because a cancelled order can be loaded and cancelled again.
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
-- A load looks up each new order among the cancelled orders.
CREATE INDEX `cancelled_orders_by_order` ON `cancelled_orders` (`order_id`);
--> statement-breakpoint
-- The public order as JSON. json_object would print null for an absent member, so the view joins texts. No
-- text needs an escape, because the columns are integers and dates in one form.
CREATE VIEW `order_json` AS
SELECT `id`, '{"id":' || `id`
	|| coalesce(',"petId":' || `pet_id`, '')
	|| coalesce(',"quantity":' || `quantity`, '')
	|| coalesce(',"shipDate":"' || `ship_date` || '"', '')
	|| CASE `complete` WHEN 1 THEN ',"complete":true' WHEN 0 THEN ',"complete":false' ELSE '' END
	|| '}' AS `json`
FROM `orders`;
--> statement-breakpoint
-- The change feed has a row for each change of a public order. The last row is the list's current revision.
CREATE TABLE `order_changes` (
	-- AUTOINCREMENT would write a second row. The last row is never deleted, so no revision comes twice.
	`revision` integer PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	-- Each revision has a random token, so that a database that was restored to an earlier time repeats no ETag.
	`token` text DEFAULT (lower(hex(randomblob(8)))) NOT NULL,
	`changed_at` integer DEFAULT (unixepoch()) NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `order_changes` (`order_id`) VALUES (0);
--> statement-breakpoint
CREATE TRIGGER `orders_insert_is_a_change` AFTER INSERT ON `orders` BEGIN
	INSERT INTO `order_changes` (`order_id`) VALUES (NEW.`id`);
END;
--> statement-breakpoint
-- A new id is a change of both ids.
CREATE TRIGGER `orders_update_is_a_change` AFTER UPDATE ON `orders`
WHEN (OLD.`id`, OLD.`pet_id`, OLD.`quantity`, OLD.`ship_date`, OLD.`complete`) IS NOT (NEW.`id`, NEW.`pet_id`, NEW.`quantity`, NEW.`ship_date`, NEW.`complete`) BEGIN
	INSERT INTO `order_changes` (`order_id`) SELECT OLD.`id` UNION SELECT NEW.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `orders_delete_is_a_change` AFTER DELETE ON `orders` BEGIN
	INSERT INTO `order_changes` (`order_id`) VALUES (OLD.`id`);
END;
--> statement-breakpoint

-- What orders were before a load, for its undo. A file is loaded in batches, each with a row. An undo deletes the
-- rows, and so does retention.
CREATE TABLE `loads` (
	-- The id of the batch's audit row.
	`id` integer PRIMARY KEY NOT NULL,
	-- The same text for all batches of a file.
	`load` text NOT NULL,
	`at` integer NOT NULL,
	-- JSON: for each order an array of its id and its version after the load, and then, if the load has not
	-- inserted the order, its members before the load.
	`orders` text NOT NULL
) STRICT;
--> statement-breakpoint

-- The limiters' reports: every ban, and each key's usage of a day.

CREATE TABLE `bans` (
	`id` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`cause` text NOT NULL CHECK (`cause` IN ('strikes', 'operator')),
	`reason` text,
	`strikes` integer NOT NULL,
	`started_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`lifted_at` integer,
	`lifted_by` text
) STRICT;
--> statement-breakpoint
-- Retention deletes by end.
CREATE INDEX `bans_by_end` ON `bans` (`ends_at`);
--> statement-breakpoint
-- The bans of a key, newest first.
CREATE INDEX `bans_by_key` ON `bans` (`key_id`,`started_at`,`id`);
--> statement-breakpoint
-- All bans, newest first.
CREATE INDEX `bans_by_start` ON `bans` (`started_at`,`id`);
--> statement-breakpoint
CREATE TABLE `usage` (
	-- The start of the UTC day in Unix seconds.
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	-- The sums of the hours.
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	-- The limit in force at the day's last reported request. A later limit changes no past day.
	`limit_per_day` integer NOT NULL CHECK (`limit_per_day` > 0),
	-- JSON: the figures of each hour, as src/worker/key/usage-day.ts writes and reads them. The column is the
	-- last, so that sums do not read it.
	`hours` text NOT NULL,
	PRIMARY KEY(`day`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- The days of a key, and the day of the key's last request.
CREATE INDEX `usage_by_key` ON `usage` (`key_id`,`day`);
--> statement-breakpoint

-- Whose a key was, and under which plan, before a change. The days before `until_day` on which the key was in
-- use are counted for them, back to the row before. A key that never changes has no row.
CREATE TABLE `past_owners` (
	`key_id` text NOT NULL,
	`until_day` integer NOT NULL,
	`owner_name` text,
	`owner_email` text,
	`owner_key` text NOT NULL,
	`plan` text NOT NULL,
	PRIMARY KEY(`key_id`, `until_day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- A day belongs to its first request: if the key was in use on the day of the change, the next day is the first
-- of the new owner. Of two changes in between, the later one ends nothing.
CREATE TRIGGER `api_keys_update_is_a_change_of_owner` AFTER UPDATE OF `owner_name`, `owner_email`, `plan` ON `api_keys`
WHEN (OLD.`owner_name`, OLD.`owner_email`, OLD.`plan`) IS NOT (NEW.`owner_name`, NEW.`owner_email`, NEW.`plan`)
	AND EXISTS (SELECT 1 FROM `usage` WHERE `key_id` = OLD.`id`) BEGIN
	INSERT INTO `past_owners` (`key_id`, `until_day`, `owner_name`, `owner_email`, `owner_key`, `plan`)
	SELECT OLD.`id`, max(`day`) + 86400, OLD.`owner_name`, OLD.`owner_email`, OLD.`owner_key`, OLD.`plan` FROM `usage` WHERE `key_id` = OLD.`id`
	ON CONFLICT DO NOTHING;
END;
--> statement-breakpoint

-- The alerts for the webhook. Each is sent at least once. A change and its alert are stored in one batch.

CREATE TABLE `alerts` (
	-- The receiver's `webhook-id`. An event that can be found twice, such as a day's usage, keeps its id.
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL CHECK (`type` IN ('ban.started', 'ban.set', 'ban.lifted', 'key.usage', 'key.expiring', 'owner.link')),
	`key_id` text NOT NULL,
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
-- The alerts that are due.
CREATE INDEX `alerts_by_next_attempt` ON `alerts` (`next_attempt_at`) WHERE "alerts"."next_attempt_at" is not null;
--> statement-breakpoint
-- All alerts, newest first, and retention.
CREATE INDEX `alerts_by_time` ON `alerts` (`at`,`id`);
--> statement-breakpoint
-- What the webhook's receiver answered. Another address or another secret begins a row.
CREATE TABLE `alert_receivers` (
	-- An HMAC of the address with the webhook's secret, because the address can be a secret.
	`address` text PRIMARY KEY NOT NULL,
	-- The last attempt, and why it failed. NULL: the receiver accepted it.
	`answered_at` integer NOT NULL,
	`error` text,
	`delivered_at` integer,
	-- The first failure since the last delivery.
	`failing_since` integer,
	-- The receiver asked with Retry-After that nothing is sent before this time.
	`paused_until` integer DEFAULT 0 NOT NULL,
	-- The receiver answered 410: nothing is sent until it accepts a test alert or an alert that is sent by hand.
	`gone_at` integer
) STRICT, WITHOUT ROWID;
--> statement-breakpoint

-- Every change by an operator. The entry is written in the batch of the change, and never contains a secret.

CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`request_id` text NOT NULL,
	-- The name that the operator sent. The token is shared, so the name is no proof.
	`actor` text NOT NULL,
	`call` text NOT NULL,
	`object` text NOT NULL,
	`before` text,
	`after` text
) STRICT;
--> statement-breakpoint
-- The history of a key, plan or order, newest first.
CREATE INDEX `audit_log_by_object` ON `audit_log` (`object`,`id`);
--> statement-breakpoint
-- The changes of an operator, newest first.
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`actor`,`id`);
--> statement-breakpoint
-- The changes of a kind, newest first.
CREATE INDEX `audit_log_by_call` ON `audit_log` (`call`,`id`);
--> statement-breakpoint
-- The first id of a time, from which the log is read.
CREATE INDEX `audit_log_by_time` ON `audit_log` (`at`);
--> statement-breakpoint
-- Nobody can change an entry, or delete it before the shortest retention, even with plain SQL. Dropping a
-- trigger takes a token of the Cloudflare account. The token of the service is not enough.
CREATE TRIGGER `audit_log_never_changes` BEFORE UPDATE ON `audit_log`
BEGIN
	SELECT RAISE(ABORT, 'an audit entry cannot be changed');
END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_is_kept` BEFORE DELETE ON `audit_log`
WHEN OLD.`at` > unixepoch() - 86400
BEGIN
	SELECT RAISE(ABORT, 'an audit entry of the last day cannot be deleted');
END;
--> statement-breakpoint
-- SQLite fires no trigger for the row that INSERT OR REPLACE deletes, so the triggers above miss the row.
CREATE TRIGGER `audit_log_is_not_replaced` BEFORE INSERT ON `audit_log`
WHEN EXISTS (SELECT 1 FROM `audit_log` WHERE `id` = NEW.`id`)
BEGIN
	SELECT RAISE(ABORT, 'an audit entry cannot be changed');
END;
--> statement-breakpoint

-- The sessions of operators who signed in to the console with a token.
CREATE TABLE `console_sessions` (
	-- SHA-256 of the cookie's value, in lower-case hex.
	`id_hash` text PRIMARY KEY NOT NULL,
	-- The name that the operator typed. NULL: no name.
	`name` text,
	-- SHA-256 of the cookie's value and the token, so that a copy of D1 does not help anyone to guess the token.
	`token_hash` text NOT NULL,
	`ends_at` integer NOT NULL,
	`seen_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint

-- The links of owners' pages. Revoking a link deletes its row, and so does retention after the link's end.
CREATE TABLE `owner_links` (
	`id` text PRIMARY KEY NOT NULL,
	-- SHA-256 of the link's code, in lower-case hex.
	`hash` text NOT NULL,
	-- The owner's name, or the e-mail address of an owner without a name.
	`owner` text NOT NULL,
	-- The same, folded.
	`owner_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`ends_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
