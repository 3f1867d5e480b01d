-- After a restore and before any service is started: skips the numbers that were used since the backup, so that none is used
-- twice. `studioctl sequences advance --offline` runs this; so can psql, with the role that runs the migrations. The setting
-- `studio.advance_by` says how many numbers are skipped: PGOPTIONS='-c studio.advance_by=5000000'. A million if it is not
-- set. It must be set where psql runs, in a pod for instance. The notice shows which number was used.
DO $$
DECLARE
    skipped bigint := coalesce(nullif(current_setting('studio.advance_by', true), ''), '1000000')::bigint;
    first   bigint;
BEGIN
    IF skipped < 1000000 THEN
        RAISE EXCEPTION 'Skip a million numbers or more: restore-checks.sql would take a jump of % for lost events', skipped;
    END IF;
    -- If each service has its own database, only one of them has the sequences.
    IF to_regclass('webhooks.event_counters') IS NOT NULL THEN
        -- In the order in which services lock them, in case one is running after all.
        PERFORM FROM webhooks.event_counters ORDER BY studio_id FOR UPDATE;
        UPDATE webhooks.event_counters SET last_sequence = last_sequence + skipped;
        PERFORM FROM webhooks.lanes ORDER BY endpoint_id FOR UPDATE;
        UPDATE webhooks.lanes SET last_sequence = last_sequence + skipped;

        -- A studio whose first event came after the backup has no counter now. It starts after the jump, like all new studios.
        EXECUTE 'SELECT ' || (
            SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
            JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
            WHERE d.adrelid = 'webhooks.event_counters'::regclass AND a.attname = 'last_sequence') INTO first;
        EXECUTE format('ALTER TABLE webhooks.event_counters ALTER COLUMN last_sequence SET DEFAULT %s', first + skipped);
    END IF;
    RAISE NOTICE 'The sequences skip % numbers', skipped;
END $$;
