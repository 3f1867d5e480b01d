-- no transaction
-- Daily partitions, 2 of 3: what takes long, without blocking reads or writes. Each statement can be repeated.

-- The dispatcher finds the events of open deliveries by this column. Others get it when they are opened again.
-- In small transactions along the table, so that no result of a delivery waits long to be written.
DO $$
DECLARE
    pages bigint := pg_relation_size('deliveries') / current_setting('block_size')::bigint;
    page  bigint := 0;
BEGIN
    WHILE page <= pages LOOP
        UPDATE deliveries d SET event_created_at = (
            SELECT e.created_at FROM events e WHERE e.studio_id = d.studio_id AND e.id = d.event_id)
        WHERE d.ctid >= format('(%s,0)', page)::tid AND d.ctid < format('(%s,0)', page + 256)::tid
          AND d.status = 'pending' AND d.event_created_at = '0001-01-01 00:00+00';
        COMMIT;
        page := page + 256;
    END LOOP;
END $$;

-- The partition key joins every key. An index that was not finished, because this file was killed, is made again.
DO $$
DECLARE
    name text;
BEGIN
    PERFORM set_config('lock_timeout', '300ms', true);
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
-- What the previous release leaves to be moved. Nearly empty.
CREATE INDEX CONCURRENTLY IF NOT EXISTS deliveries_before_unknown ON deliveries (studio_id, id)
    WHERE status = 'pending' AND event_created_at = '0001-01-01 00:00+00';

-- The indexes may have taken days. From here on nothing is logged that is created after the bound, until 0010.
UPDATE log_days SET until = date_trunc('day', now(), 'UTC') + interval '8 days'
WHERE until < date_trunc('day', now(), 'UTC') + interval '7 days' AND to_regclass('events_by_age') IS NOT NULL;

-- With these, attaching the tables as partitions scans nothing.
DO $$
DECLARE
    bound timestamptz := (SELECT min(until) FROM log_days);
BEGIN
    PERFORM set_config('lock_timeout', '300ms', true);
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
