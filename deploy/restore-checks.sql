-- What must hold in a restored database. Each check raises an error that says what is wrong; the last line says what is
-- there. Run by deploy/kubernetes/restore-drill.sh, or by hand: psql -v ON_ERROR_STOP=1 -f deploy/restore-checks.sql

DO $$
DECLARE
    service text;
    wrong   bigint;
    -- Whether days were dropped as a whole.
    dropped boolean;
BEGIN
    FOREACH service IN ARRAY ARRAY['gateway', 'catalog', 'bookings', 'forms', 'webhooks'] LOOP
        IF to_regclass(service || '.schema_migrations') IS NULL THEN
            RAISE EXCEPTION 'The schema of % was not restored', service;
        END IF;
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'studio_' || service) THEN
            RAISE EXCEPTION 'The role studio_% is missing: run the migrations before the services', service;
        END IF;
    END LOOP;

    IF NOT EXISTS (SELECT FROM gateway.studios) THEN
        RAISE EXCEPTION 'There is no studio: this is an empty database';
    END IF;

    -- Partners follow the event log by its sequence: a gap would be waited for, or be an event that nobody has.
    -- Only the jump of `studioctl sequences advance`, a million or more, is meant.
    -- An event of a dropped day may have been logged late, between events of a later day, and leaves a gap there. All
    -- events from one entry of event_days to the next are of one day, so such a gap ends at an entry, and no other does.
    SELECT min(since) > '1000-01-01' INTO dropped FROM webhooks.log_days;
    SELECT count(DISTINCT studio_id) INTO wrong FROM (
        SELECT studio_id, sequence,
               sequence - lag(sequence) OVER (PARTITION BY studio_id ORDER BY sequence) AS step
        FROM webhooks.events) AS logged
    WHERE step > 1 AND step < 1000000
      AND NOT (dropped AND EXISTS (
          SELECT FROM webhooks.event_days d
          WHERE d.studio_id = logged.studio_id AND d.first_sequence = logged.sequence));
    IF wrong > 0 THEN
        RAISE EXCEPTION 'The event log of % studios has gaps', wrong;
    END IF;
    SELECT count(*) INTO wrong FROM (
        SELECT FROM webhooks.events e JOIN webhooks.event_counters c USING (studio_id)
        GROUP BY studio_id, c.last_sequence HAVING max(e.sequence) > c.last_sequence) AS behind;
    IF wrong > 0 THEN
        RAISE EXCEPTION 'The counters of % studios are behind their event log', wrong;
    END IF;

    -- A seat is counted in the transaction that books it.
    SELECT count(*) INTO wrong FROM (
        SELECT FROM bookings.classes c
        LEFT JOIN bookings.bookings b ON b.studio_id = c.studio_id AND b.class_id = c.id
            AND b.status IN ('confirmed', 'checked_in', 'no_show')
        WHERE c.status = 'scheduled'
        GROUP BY c.studio_id, c.id, c.booked_count HAVING count(b.id) <> c.booked_count) AS miscounted;
    IF wrong > 0 THEN
        RAISE EXCEPTION '% classes count other seats than are booked', wrong;
    END IF;
END $$;

SELECT (SELECT count(*) FROM gateway.studios) AS studios,
       (SELECT count(*) FROM bookings.bookings) AS bookings,
       (SELECT count(*) FROM webhooks.events) AS events,
       (SELECT max(created_at) FROM webhooks.events) AS newest_event;
