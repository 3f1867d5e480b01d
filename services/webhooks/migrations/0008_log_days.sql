-- Daily partitions of the event log, 1 of 3: what can be added while everything runs. docs/decisions/0014 says why.
-- Everybody queues behind a lock that is waited for, so give up soon: the file is tried again. Before a deadlock
-- is looked for, so that it is never somebody else who is refused.
SET LOCAL lock_timeout = '300ms';
-- In the order in which events are logged.
LOCK TABLE events, deliveries IN ACCESS EXCLUSIVE MODE;

-- The created_at of a delivery's event, the partition key. Year 1 means that it is not known yet: rows from before this
-- column, and rows of the previous release.
ALTER TABLE deliveries ADD COLUMN event_created_at timestamptz NOT NULL DEFAULT '0001-01-01 00:00+00';
-- A lane has no open delivery of an event from before or after this time.
ALTER TABLE lanes ADD COLUMN open_since timestamptz NOT NULL DEFAULT '0001-01-01 00:00+00',
    ADD COLUMN open_until timestamptz NOT NULL DEFAULT '9999-01-01 00:00+00';

-- The partitions. The first one is the tables as they were; it takes all rows of the coming week, so that the previous
-- release has that long to go away, or can come back. In a new database it ends tonight.
CREATE TABLE log_days (
    since timestamptz PRIMARY KEY,
    until timestamptz NOT NULL UNIQUE
);
REVOKE INSERT, UPDATE, DELETE ON log_days FROM studio_webhooks;
INSERT INTO log_days
SELECT '0001-01-01 00:00+00', date_trunc('day', now(), 'UTC') + CASE
    WHEN EXISTS (SELECT FROM event_counters)
      OR EXISTS (SELECT FROM schema_migrations WHERE applied_at < now() - interval '10 minutes')
    THEN interval '8 days' ELSE interval '1 day' END;

-- From which sequence on a studio's events are of which day, so that a page reads few partitions.
CREATE TABLE event_days (
    studio_id      uuid        NOT NULL,
    first_sequence bigint      NOT NULL,
    since          timestamptz NOT NULL,
    until          timestamptz NOT NULL,
    PRIMARY KEY (studio_id, first_sequence)
);

CREATE FUNCTION note_event_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhooks.event_days (studio_id, first_sequence, since, until)
    SELECT changed.studio_id, changed.sequence, day.since, day.until
    FROM (
        SELECT * FROM (
            SELECT studio_id, sequence, created_at,
                   lag(created_at) OVER (PARTITION BY studio_id ORDER BY sequence) AS before
            FROM rows_after) AS logged
        WHERE before IS NULL OR date_trunc('day', before, 'UTC') <> date_trunc('day', created_at, 'UTC')
    ) AS changed
    CROSS JOIN LATERAL (
        SELECT d.since, d.until FROM webhooks.log_days d
        WHERE d.since <= changed.created_at ORDER BY d.since DESC LIMIT 1) AS day
    LEFT JOIN LATERAL (
        SELECT r.since FROM webhooks.event_days r
        WHERE changed.before IS NULL AND r.studio_id = changed.studio_id AND r.first_sequence <= changed.sequence
        ORDER BY r.first_sequence DESC LIMIT 1) AS last ON true
    WHERE CASE WHEN changed.before IS NULL THEN last.since IS DISTINCT FROM day.since
               ELSE changed.before < day.since OR changed.before >= day.until END
    ON CONFLICT (studio_id, first_sequence) DO UPDATE SET since = excluded.since, until = excluded.until;
    RETURN NULL;
END $$;
CREATE TRIGGER note_days AFTER INSERT ON events REFERENCING NEW TABLE AS rows_after
    FOR EACH STATEMENT EXECUTE FUNCTION note_event_days();
INSERT INTO event_days SELECT studio_id, 0, since, until FROM event_counters CROSS JOIN log_days;

-- For the previous release, which does not give the column.
CREATE FUNCTION fill_event_created_at() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    found_at timestamptz;
BEGIN
    SELECT e.created_at INTO found_at FROM webhooks.events e
    WHERE e.studio_id = NEW.studio_id AND e.id = NEW.event_id;
    IF found_at < (SELECT min(until) FROM webhooks.log_days) THEN
        NEW.event_created_at := found_at;
    END IF;
    UPDATE webhooks.lanes SET open_since = least(open_since, NEW.event_created_at),
           open_until = greatest(open_until, NEW.event_created_at)
    WHERE endpoint_id = NEW.endpoint_id
      AND (open_since > NEW.event_created_at OR open_until < NEW.event_created_at);
    RETURN NEW;
END $$;
CREATE TRIGGER fill_event_created_at BEFORE INSERT ON deliveries
    FOR EACH ROW WHEN (NEW.event_created_at = '0001-01-01 00:00+00')
    EXECUTE FUNCTION fill_event_created_at();

-- The partition key joins every key. In a new database the indexes are made here, which is quicker; else by 0009.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM events) THEN
        CREATE UNIQUE INDEX events_before_key ON events (studio_id, id, created_at);
        CREATE UNIQUE INDEX events_before_in_order ON events (studio_id, sequence, created_at);
        CREATE UNIQUE INDEX deliveries_before_key ON deliveries (studio_id, id, event_created_at);
        CREATE UNIQUE INDEX deliveries_before_in_order ON deliveries (endpoint_id, sequence, event_created_at);
        CREATE UNIQUE INDEX deliveries_before_once
            ON deliveries (studio_id, event_id, endpoint_id, event_created_at);
        CREATE INDEX deliveries_before_unknown ON deliveries (studio_id, id)
            WHERE status = 'pending' AND event_created_at = '0001-01-01 00:00+00';
    END IF;
    -- Only for deleting old rows one by one. With it, the planner may read a whole day of a studio for one event.
    IF (SELECT until < now() + interval '2 days' FROM log_days) THEN
        DROP INDEX events_by_age;
    END IF;
END $$;
