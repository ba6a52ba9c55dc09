-- Filters of the audit log. An entry is written once for each change by an operator, so three rows more cost little.

-- Everything that one operator did, newest first.
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`actor`,`id`);--> statement-breakpoint
-- All changes of one kind, newest first.
CREATE INDEX `audit_log_by_call` ON `audit_log` (`call`,`id`);--> statement-breakpoint
-- The entries of a time, from whose ids on the log is read.
CREATE INDEX `audit_log_by_time` ON `audit_log` (`at`);
