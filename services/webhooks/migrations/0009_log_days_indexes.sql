-- no transaction
-- Daily partitions, 2 of 3: what takes long, without blocking reads or writes. Each statement can be repeated.

-- The dispatcher finds the events of open deliveries by this column. Others get it when they are opened again.
UPDATE deliveries d SET event_created_at = e.created_at FROM events e
WHERE d.status = 'pending' AND d.event_created_at = '0001-01-01 00:00+00'
  AND e.studio_id = d.studio_id AND e.id = d.event_id;

-- The partition key joins every key. An index that was not finished, because this file was killed, is made again.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT indexrelid::regclass::text FROM pg_index
        WHERE indrelid IN ('events'::regclass, 'deliveries'::regclass) AND NOT indisvalid
    LOOP
        EXECUTE 'DROP INDEX ' || name;
    END LOOP;
END $$;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS events_before_key ON events (studio_id, id, created_at);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS events_before_in_order ON events (studio_id, sequence, created_at);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS deliveries_before_key
    ON deliveries (studio_id, id, event_created_at);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS deliveries_before_in_order
    ON deliveries (endpoint_id, sequence, event_created_at);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS deliveries_before_once
    ON deliveries (studio_id, event_id, endpoint_id, event_created_at);

-- With these, attaching the tables as partitions scans nothing.
DO $$
DECLARE
    bound timestamptz := (SELECT min(until) FROM log_days);
BEGIN
    ALTER TABLE events DROP CONSTRAINT IF EXISTS events_before_bound;
    ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_before_bound;
    EXECUTE format(
        'ALTER TABLE events ADD CONSTRAINT events_before_bound CHECK (created_at < %L) NOT VALID', bound);
    EXECUTE format(
        'ALTER TABLE deliveries ADD CONSTRAINT deliveries_before_bound CHECK (event_created_at < %L) NOT VALID',
        bound);
END $$;
ALTER TABLE events VALIDATE CONSTRAINT events_before_bound;
ALTER TABLE deliveries VALIDATE CONSTRAINT deliveries_before_bound;
