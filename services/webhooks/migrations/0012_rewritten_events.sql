-- How often an erasure had rewritten the event when this body was published; null if never. An earlier version that arrives
-- late changes nothing. No row is written; the lock is short, but waits for whoever reads the log.
SET LOCAL lock_timeout = '300ms';
ALTER TABLE events ADD COLUMN version integer;
