-- A revoked key has no use for limits, and can never be given any: it must not keep its plan from losing its own.

DROP TRIGGER `plans_update_keeps_limits`;
--> statement-breakpoint
CREATE TRIGGER `plans_update_keeps_limits` BEFORE UPDATE ON `plans`
WHEN EXISTS (
	SELECT 1 FROM `api_keys` WHERE `plan` = NEW.`id` AND `status` <> 'revoked'
	AND (coalesce(`requests_per_minute`, NEW.`requests_per_minute`) IS NULL OR coalesce(`requests_per_day`, NEW.`requests_per_day`) IS NULL)
)
BEGIN
	SELECT RAISE(ABORT, 'a key of this plan relies on the plan''s limit');
END;
