-- Every change an operator made: written in the same batch as the change itself. Secrets never enter it.

CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`request_id` text NOT NULL,
	-- Who says to have made it: the token is shared, so this is for people, not proof.
	`actor` text NOT NULL,
	`call` text NOT NULL,
	`object` text NOT NULL,
	`before` text,
	`after` text
) STRICT;
--> statement-breakpoint
-- The history of one key, plan or order, newest first.
CREATE INDEX `audit_log_by_object` ON `audit_log` (`object`,`id`);
