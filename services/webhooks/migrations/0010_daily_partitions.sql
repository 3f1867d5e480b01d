-- Daily partitions, 3 of 3: the tables become the first partition. No row is read or written, so that the locks are short.
SET LOCAL lock_timeout = '300ms';
LOCK TABLE events, deliveries IN ACCESS EXCLUSIVE MODE;

-- 0009 may have moved the bound.
UPDATE event_days SET until = d.until FROM log_days d WHERE event_days.since = d.since AND event_days.until <> d.until;

-- Deliveries go with their event: both are in the partition of the same day.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_studio_id_event_id_fkey;

DROP TRIGGER note_days ON events;
DROP TRIGGER count_inserted ON deliveries;
DROP TRIGGER count_deleted ON deliveries;

-- old code survives: a table of the same name takes its place
ALTER TABLE events RENAME TO events_before;
ALTER TABLE events_before DROP CONSTRAINT events_pkey;
ALTER TABLE events_before DROP CONSTRAINT events_studio_id_sequence_key;
ALTER TABLE events_before ADD CONSTRAINT events_before_key PRIMARY KEY USING INDEX events_before_key;
-- old code survives: it names no index
ALTER INDEX events_by_type RENAME TO events_before_by_type;
-- old code survives: it names no index
ALTER INDEX events_by_location RENAME TO events_before_by_location;
-- old code survives: it names no index
ALTER INDEX IF EXISTS events_by_age RENAME TO events_before_by_age;

CREATE TABLE events (LIKE events_before, PRIMARY KEY (studio_id, id, created_at)) PARTITION BY RANGE (created_at);
CREATE UNIQUE INDEX events_in_order ON events (studio_id, sequence, created_at);
CREATE INDEX events_by_type ON events (studio_id, type, sequence);
CREATE INDEX events_by_location ON events (studio_id, location_id, type, sequence)
    WHERE location_id IS NOT NULL;
-- old code survives: only the planner reads it
ALTER TABLE events ALTER COLUMN type SET (n_distinct = 50);

-- old code survives: a table of the same name takes its place
ALTER TABLE deliveries RENAME TO deliveries_before;
ALTER TABLE deliveries_before DROP CONSTRAINT deliveries_pkey;
ALTER TABLE deliveries_before DROP CONSTRAINT deliveries_endpoint_id_sequence_key;
DROP INDEX deliveries_once;
ALTER TABLE deliveries_before ADD CONSTRAINT deliveries_before_key PRIMARY KEY USING INDEX deliveries_before_key;
-- old code survives: it names no index
ALTER INDEX deliveries_first RENAME TO deliveries_before_first;
-- old code survives: it names no index
ALTER INDEX deliveries_retry RENAME TO deliveries_before_retry;
-- old code survives: it names no index
ALTER INDEX deliveries_dead RENAME TO deliveries_before_dead;

CREATE TABLE deliveries (
    LIKE deliveries_before INCLUDING DEFAULTS,
    PRIMARY KEY (studio_id, id, event_created_at),
    CONSTRAINT deliveries_status_check CHECK (status IN ('pending', 'succeeded', 'dead')),
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id)
) PARTITION BY RANGE (event_created_at);
CREATE UNIQUE INDEX deliveries_in_order ON deliveries (endpoint_id, sequence, event_created_at);
CREATE UNIQUE INDEX deliveries_once ON deliveries (studio_id, event_id, endpoint_id, event_created_at);
CREATE INDEX deliveries_first ON deliveries (endpoint_id, sequence) WHERE status = 'pending' AND step = 0;
CREATE INDEX deliveries_retry ON deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending' AND step > 0;
CREATE INDEX deliveries_dead ON deliveries (endpoint_id, sequence) WHERE status = 'dead';

-- `count_updated` of the first partition stays: the dispatcher names the partition in its statements.
DO $$
DECLARE
    bound timestamptz := (SELECT min(until) FROM log_days);
BEGIN
    EXECUTE format('ALTER TABLE events ATTACH PARTITION events_before FOR VALUES FROM (MINVALUE) TO (%L)', bound);
    EXECUTE format(
        'ALTER TABLE deliveries ATTACH PARTITION deliveries_before FOR VALUES FROM (MINVALUE) TO (%L)', bound);
END $$;

CREATE TRIGGER note_days AFTER INSERT ON events REFERENCING NEW TABLE AS rows_after
    FOR EACH STATEMENT EXECUTE FUNCTION note_event_days();
CREATE TRIGGER count_inserted AFTER INSERT ON deliveries REFERENCING NEW TABLE AS rows_after
    FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
CREATE TRIGGER count_updated AFTER UPDATE ON deliveries
    REFERENCING OLD TABLE AS rows_before NEW TABLE AS rows_after
    FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
CREATE TRIGGER count_deleted AFTER DELETE ON deliveries REFERENCING OLD TABLE AS rows_before
    FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
-- For whoever opens a delivery again without telling its lane. Rows whose event is not known are moved first.
CREATE FUNCTION open_lane_for() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE webhooks.lanes SET open_since = least(open_since, NEW.event_created_at),
           open_until = greatest(open_until, NEW.event_created_at)
    WHERE endpoint_id = NEW.endpoint_id
      AND (open_since > NEW.event_created_at OR open_until < NEW.event_created_at);
    RETURN NULL;
END $$;
-- Instead of the foreign key, for the previous release, which deletes old events only. New events are in other partitions.
CREATE FUNCTION delete_deliveries_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks.deliveries WHERE studio_id = OLD.studio_id AND event_id = OLD.id
        AND event_created_at IN (OLD.created_at, '0001-01-01 00:00+00');
    RETURN NULL;
END $$;
CREATE TRIGGER delete_deliveries AFTER DELETE ON events_before FOR EACH ROW
    EXECUTE FUNCTION delete_deliveries_of_event();
CREATE TRIGGER opened_again AFTER UPDATE OF status ON deliveries FOR EACH ROW
    WHEN (OLD.status <> 'pending' AND NEW.status = 'pending' AND NEW.event_created_at > '0001-01-01 00:00+00')
    EXECUTE FUNCTION open_lane_for();
