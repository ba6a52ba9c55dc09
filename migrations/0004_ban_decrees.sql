-- The operator's last word on each key's bans. It comes with the key's record to a limiter that could not be told.

CREATE TABLE `ban_decrees` (
	`key_id` text PRIMARY KEY NOT NULL,
	`decree` text NOT NULL
) STRICT, WITHOUT ROWID;
