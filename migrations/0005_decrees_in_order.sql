-- Two operators may decree over one key at the same time. A limiter obeys no decree older than its last, so the database
-- takes none either: what it says of a key's bans is then what the key's limiter does.

CREATE TRIGGER `ban_decrees_in_order` BEFORE UPDATE ON `ban_decrees`
WHEN json_extract(NEW.`decree`, '$.atMs') <= json_extract(OLD.`decree`, '$.atMs')
BEGIN
	SELECT RAISE(ABORT, 'a later decree stands');
END;
