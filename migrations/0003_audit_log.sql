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
--> statement-breakpoint
-- An entry cannot be changed, nor deleted before the shortest retention, also with plain SQL. Whoever can drop a trigger can
-- do both: the token of the account, not that of the service, protects from that.
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
