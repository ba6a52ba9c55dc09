-- What limiters report: each key's usage of a day, and every ban. A limiter's own state is deleted when the key is idle.

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
-- Retention, by end.
CREATE INDEX `bans_by_end` ON `bans` (`ends_at`);
--> statement-breakpoint
-- One key's history, newest first.
CREATE INDEX `bans_by_key` ON `bans` (`key_id`,`started_at`,`id`);
--> statement-breakpoint
-- All bans, newest first.
CREATE INDEX `bans_by_start` ON `bans` (`started_at`,`id`);
--> statement-breakpoint
-- Pages of live and of past bans. They are partial, so that SQLite does not prefer them to the index by key.
CREATE INDEX `bans_unlifted_by_end` ON `bans` (`ends_at`,`id`) WHERE "bans"."lifted_at" is null;
--> statement-breakpoint
CREATE INDEX `bans_lifted` ON `bans` (`lifted_at`,`id`) WHERE "bans"."lifted_at" is not null;
--> statement-breakpoint
CREATE TABLE `daily_usage` (
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	-- JSON: [hour, admitted, refused, refused while banned] of each hour with requests. NULL: reported without hours.
	`hours` text,
	-- Admitted, as a share of the day's limit that was effective at the report. NULL: the limit was not known.
	`percent` real,
	PRIMARY KEY(`day`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- One key's last days, and the day it was last used.
CREATE INDEX `daily_usage_by_key` ON `daily_usage` (`key_id`,`day`);
--> statement-breakpoint
-- A day's most used keys. The primary key is part of it, so it has the key ids.
CREATE INDEX `daily_usage_by_admitted` ON `daily_usage` (`day`,`admitted`);
--> statement-breakpoint
-- A day's most refused keys, and those that used most of their limit. They are partial, because each entry is a row
-- written: most keys are never refused, and a day's first report has a few requests only.
CREATE INDEX `daily_usage_by_refused` ON `daily_usage` (`day`,`refused`) WHERE "daily_usage"."refused" > 0;
--> statement-breakpoint
CREATE INDEX `daily_usage_by_percent` ON `daily_usage` (`day`,`percent`) WHERE "daily_usage"."percent" >= 1;
--> statement-breakpoint
-- The usage of all keys of a plan on a day that is over. An hourly cron sums it, so that a report writes no row for it.
CREATE TABLE `usage_totals` (
	`day` text NOT NULL,
	`plan` text NOT NULL,
	`key_count` integer NOT NULL,
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	-- JSON, as in `daily_usage`.
	`hours` text NOT NULL,
	PRIMARY KEY(`day`, `plan`)
) STRICT, WITHOUT ROWID;
