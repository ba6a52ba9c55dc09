-- Every change by an operator, written in the same batch as the change itself. Secrets never enter it.

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
-- The history of one key, plan or order, newest first.
CREATE INDEX `audit_log_by_object` ON `audit_log` (`object`,`id`);
