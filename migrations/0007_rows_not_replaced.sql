-- SQLite fires no trigger for the row that INSERT OR REPLACE deletes, so the triggers that keep audit entries and revoked keys do
-- not see it.
CREATE TRIGGER `audit_log_is_not_replaced` BEFORE INSERT ON `audit_log`
WHEN EXISTS (SELECT 1 FROM `audit_log` WHERE `id` = NEW.`id`)
BEGIN
	SELECT RAISE(ABORT, 'an audit entry cannot be changed');
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_revoked_is_not_replaced` BEFORE INSERT ON `api_keys`
WHEN EXISTS (SELECT 1 FROM `api_keys` WHERE `id` = NEW.`id` AND `status` = 'revoked')
BEGIN
	SELECT RAISE(ABORT, 'a revoked key stays revoked');
END;
