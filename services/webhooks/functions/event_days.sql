-- Notes from which sequence on a studio's events are of which day. A trigger, so that it holds for every writer; the
-- counter's lock makes writers of a studio take turns.
CREATE OR REPLACE FUNCTION note_event_days() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- For deliveries of the previous release, which does not give the column. Fires in the first partition only.
CREATE OR REPLACE FUNCTION fill_event_created_at() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- A delivery that is opened again is found again, also if the previous release does it, which does not know the span.
CREATE OR REPLACE FUNCTION open_lane_for() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE webhooks.lanes SET open_since = least(open_since, NEW.event_created_at),
           open_until = greatest(open_until, NEW.event_created_at)
    WHERE endpoint_id = NEW.endpoint_id
      AND (open_since > NEW.event_created_at OR open_until < NEW.event_created_at);
    RETURN NULL;
END $$;

-- Instead of a foreign key, for the previous release, which deletes old events only. Fires in the first partition only.
CREATE OR REPLACE FUNCTION delete_deliveries_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks.deliveries WHERE studio_id = OLD.studio_id AND event_id = OLD.id
        AND event_created_at IN (OLD.created_at, '0001-01-01 00:00+00');
    RETURN NULL;
END $$;
