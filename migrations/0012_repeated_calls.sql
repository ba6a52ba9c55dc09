-- A browser sends a call again if its connection ends before an answer, and shows the second answer only. Both have the same key.
ALTER TABLE `audit_log` ADD `idempotency_key` text;--> statement-breakpoint
CREATE INDEX `audit_log_by_idempotency_key` ON `audit_log` (`idempotency_key`) WHERE idempotency_key is not null;
--> statement-breakpoint
-- A unique index would let INSERT OR REPLACE delete the entry that is there.
CREATE TRIGGER `audit_log_repeated_call` BEFORE INSERT ON `audit_log`
WHEN EXISTS (SELECT 1 FROM `audit_log` WHERE `idempotency_key` = NEW.`idempotency_key`)
BEGIN
	SELECT RAISE(ABORT, 'audit_log_repeated_call');
END;
