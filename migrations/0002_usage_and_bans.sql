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
-- The live bans are those that end in the future.
CREATE INDEX `bans_by_end` ON `bans` (`ends_at`);
--> statement-breakpoint
-- One key's history, newest first.
CREATE INDEX `bans_by_key` ON `bans` (`key_id`,`started_at`);
--> statement-breakpoint
CREATE TABLE `daily_usage` (
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`admitted` integer NOT NULL,
	`refused` integer NOT NULL,
	`refused_while_banned` integer NOT NULL,
	PRIMARY KEY(`day`, `key_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- One key's last days, and the day it was last used.
CREATE INDEX `daily_usage_by_key` ON `daily_usage` (`key_id`,`day`);
