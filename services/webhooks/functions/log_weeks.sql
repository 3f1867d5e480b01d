-- Adding and dropping the log's weeks, which begin on Monday in UTC. The service's role owns no table, so these run with
-- the rights of whoever migrated, and check what they are asked for: nothing that is kept can be dropped.

-- Adds the week of this moment, unless it is there. Attaching a finished table blocks neither reads nor writes of the log.
CREATE OR REPLACE FUNCTION add_log_week(moment timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = webhooks, pg_temp SET timezone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
    week date := date_trunc('week', moment);
    kind text;
    name text;
BEGIN
    IF moment NOT BETWEEN now() - interval '100 days' AND now() + interval '30 days' THEN
        RAISE EXCEPTION 'The log has no week for %', moment;
    END IF;
    -- Replicas take turns.
    PERFORM pg_advisory_xact_lock(hashtextextended('webhooks log weeks', 0));
    FOREACH kind IN ARRAY ARRAY['events', 'deliveries'] LOOP
        name := kind || to_char(week, '_YYYYMMDD');
        IF to_regclass(name) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name, kind);
            IF kind = 'events' THEN
                EXECUTE format('ALTER TABLE %I ALTER COLUMN type SET (n_distinct = 50)', name);
            END IF;
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           kind, name, week::timestamptz, (week + 7)::timestamptz);
        END IF;
    END LOOP;
END $$;

-- Drops a week of one table. The deliveries go first, in a transaction of their own: two tables locked at once could
-- deadlock with whoever uses both. Gives up soon, since everybody waits behind this lock.
CREATE OR REPLACE FUNCTION drop_log_week(week date, kind text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = webhooks, pg_temp SET timezone = 'UTC' SET lock_timeout = '100ms' AS $$
BEGIN
    IF (week + 7)::timestamptz > now() - interval '30 days' OR kind NOT IN ('events', 'deliveries') THEN
        RAISE EXCEPTION '% of the week of % cannot be dropped', kind, week;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS %I', kind || to_char(week, '_YYYYMMDD'));
END $$;

-- A new database has its first weeks before a service starts.
SELECT add_log_week(now()), add_log_week(now() + interval '7 days');
