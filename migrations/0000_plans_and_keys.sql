-- Plans and their limits, API keys, and the keys' secrets.

CREATE TABLE `plans` (
	`id` text PRIMARY KEY NOT NULL,
	-- NULL: the plan has no limit of its own, and each of its keys must have one.
	`requests_per_minute` integer CHECK (`requests_per_minute` > 0),
	`requests_per_day` integer CHECK (`requests_per_day` > 0),
	-- Raised by a change of the limits. A key record's version is the higher of its key's and its plan's, so that such a
	-- change writes one row, however many keys the plan has.
	`version` integer DEFAULT 1 NOT NULL,
	-- Keys that are not revoked, counted by triggers: to count them in each list of plans would read all of them.
	`key_count` integer DEFAULT 0 NOT NULL,
	-- Those of them that rely on the plan's limit, because they have none of their own.
	`keys_without_minute_limit` integer DEFAULT 0 NOT NULL,
	`keys_without_day_limit` integer DEFAULT 0 NOT NULL,
	-- No key can be without a limit, also when it is written with plain SQL (INSERT OR REPLACE, which deletes rows without
	-- their triggers, excepted).
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
	-- NOCASE: the list of keys is sorted by name and by owner, A to Z without regard to case.
	`name` text NOT NULL COLLATE NOCASE,
	`owner_name` text COLLATE NOCASE,
	`owner_email` text,
	`note` text,
	`plan` text NOT NULL,
	-- NULL: the plan's limit.
	`requests_per_minute` integer CHECK (`requests_per_minute` > 0),
	`requests_per_day` integer CHECK (`requests_per_day` > 0),
	`status` text DEFAULT 'active' NOT NULL,
	`expires_at` integer,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	-- NULL: never used, so that its limiter does not exist yet. Only a client's request may create it.
	`first_used_at` integer,
	-- A location hint for the limiter; NULL: near the first request.
	`location` text CHECK (`location` IN ('wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me')),
	-- The ban override, each member the id of a row of `bans`: the operator ban, the ban lifted last, and the ban that
	-- the next one for strikes does not double.
	`operator_ban_id` text,
	`lifted_ban_id` text,
	`forgiven_ban_id` text,
	FOREIGN KEY (`plan`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "api_keys_status" CHECK("api_keys"."status" in ('active', 'disabled', 'revoked'))
) STRICT;
--> statement-breakpoint
-- The admin API's list of keys filters by plan.
CREATE INDEX `api_keys_by_plan` ON `api_keys` (`plan`,`id`);
--> statement-breakpoint
-- The same list, sorted.
CREATE INDEX `api_keys_by_name` ON `api_keys` (`name`,`id`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_owner` ON `api_keys` (`owner_name`,`id`);
--> statement-breakpoint
CREATE INDEX `api_keys_by_expiry` ON `api_keys` (`expires_at`,`id`);
--> statement-breakpoint
-- The highest version of a plan's keys, above which a change of the plan sets the plan's.
CREATE INDEX `api_keys_by_plan_and_version` ON `api_keys` (`plan`,`version`);
--> statement-breakpoint
-- The keys that have limiters, the newest first use first: all of them, and the active ones of a plan, which a change of the
-- plan notifies. They are partial, so that a search does not read the keys that were never used.
CREATE INDEX `api_keys_by_first_use` ON `api_keys` (`first_used_at`) WHERE "api_keys"."first_used_at" is not null;
--> statement-breakpoint
CREATE INDEX `api_keys_used_by_plan` ON `api_keys` (`plan`,`status`,`first_used_at`) WHERE "api_keys"."first_used_at" is not null;
--> statement-breakpoint
CREATE TABLE `key_secrets` (
	-- SHA-256 of the whole key, lower-case hex. WITHOUT ROWID: the lookup by hash searches one tree.
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`hint` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Rotation, and the admin API's view of a key.
CREATE INDEX `key_secrets_by_key` ON `key_secrets` (`key_id`);
--> statement-breakpoint
-- A key is found by the last characters of its secret, as people read them out.
CREATE INDEX `key_secrets_by_last_chars` ON `key_secrets` (substr(`hint`, -4) COLLATE NOCASE);
--> statement-breakpoint
-- Retention, by end.
CREATE INDEX `key_secrets_by_end` ON `key_secrets` (`expires_at`) WHERE "key_secrets"."expires_at" is not null;
--> statement-breakpoint

-- The version says which copy of a key record is newer. It is a time as well as a counter, so that a change made after
-- the database was restored to an earlier time still has a higher version than every copy made before.
CREATE TRIGGER `api_keys_raise_version`
AFTER UPDATE OF `name`, `owner_name`, `owner_email`, `note`, `plan`, `requests_per_minute`, `requests_per_day`, `status`, `expires_at`, `operator_ban_id`, `lifted_ban_id`, `forgiven_ban_id` ON `api_keys`
BEGIN
	UPDATE `api_keys` SET `version` = max(
		`version` + 1, (SELECT `version` + 1 FROM `plans` WHERE `id` = OLD.`plan`), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	) WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_secrets_insert_raises_version` AFTER INSERT ON `key_secrets`
BEGIN
	UPDATE `api_keys` SET `version` = max(
		`version` + 1, (SELECT `version` + 1 FROM `plans` WHERE `id` = `api_keys`.`plan`), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	) WHERE `id` = NEW.`key_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_secrets_update_raises_version` AFTER UPDATE ON `key_secrets`
BEGIN
	UPDATE `api_keys` SET `version` = max(
		`version` + 1, (SELECT `version` + 1 FROM `plans` WHERE `id` = `api_keys`.`plan`), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	) WHERE `id` IN (OLD.`key_id`, NEW.`key_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `key_secrets_delete_raises_version` AFTER DELETE ON `key_secrets`
BEGIN
	UPDATE `api_keys` SET `version` = max(
		`version` + 1, (SELECT `version` + 1 FROM `plans` WHERE `id` = `api_keys`.`plan`), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	) WHERE `id` = OLD.`key_id`;
END;
--> statement-breakpoint
-- Above the version of each record of the plan's keys, also if the clock was set back since their last change.
CREATE TRIGGER `plans_raise_version` AFTER UPDATE OF `requests_per_minute`, `requests_per_day` ON `plans`
BEGIN
	UPDATE `plans` SET `version` = max(
		`version` + 1, (SELECT coalesce(max(`version`), 0) + 1 FROM `api_keys` WHERE `plan` = NEW.`id`), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	) WHERE `id` = NEW.`id`;
END;
--> statement-breakpoint

-- Revoking is permanent, also for plain SQL.
CREATE TRIGGER `api_keys_stay_revoked` BEFORE UPDATE OF `status` ON `api_keys`
WHEN OLD.`status` = 'revoked' AND NEW.`status` <> 'revoked'
BEGIN
	SELECT RAISE(ABORT, 'a revoked key stays revoked');
END;
--> statement-breakpoint

-- A plan's keys that are not revoked, and how many of them rely on its limits. A revoked key needs no limits, so its plan
-- may lose them. These triggers raise no version: `plans_raise_version` names the limits.
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

-- What a key's record has from its plan too: the effective limits, the key's own or its plan's, 0 for a revoked key whose
-- plan has lost a limit; and the record's version.
CREATE VIEW `key_limits` AS
SELECT `api_keys`.`id` AS `key_id`,
	coalesce(`api_keys`.`requests_per_minute`, `plans`.`requests_per_minute`, 0) AS `per_minute`,
	coalesce(`api_keys`.`requests_per_day`, `plans`.`requests_per_day`, 0) AS `per_day`,
	max(`api_keys`.`version`, `plans`.`version`) AS `version`
FROM `api_keys` JOIN `plans` ON `plans`.`id` = `api_keys`.`plan`;
