-- Adding and dropping daily partitions. The service's role owns no table, so these run with the rights of whoever
-- migrated, and check what they are asked for: nothing young can be dropped, and no more than a month is added.

-- Adds the day after the last one and returns its end. Attaching a finished table blocks neither reads nor writes of the log.
CREATE OR REPLACE FUNCTION add_log_day() RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER
SET search_path = webhooks, pg_temp SET timezone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
    day_start timestamptz;
    day_end   timestamptz;
    day       text;
BEGIN
    -- Conflicts with itself only: replicas take turns.
    LOCK TABLE log_days IN SHARE UPDATE EXCLUSIVE MODE;
    -- After a long break the days in between are left out: nothing of them is kept.
    SELECT greatest(max(until), date_trunc('day', now(), 'UTC') - interval '100 days') INTO day_start FROM log_days;
    IF day_start > now() + interval '30 days' THEN
        RAISE EXCEPTION 'The log has days for a month already';
    END IF;
    day_end := day_start + interval '24 hours';
    day := to_char(day_start AT TIME ZONE 'UTC', 'YYYYMMDD');
    EXECUTE format('CREATE TABLE events_%s (LIKE events INCLUDING ALL)', day);
    EXECUTE format('ALTER TABLE events_%s ALTER COLUMN type SET (n_distinct = 50)', day);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION events_%s FOR VALUES FROM (%L) TO (%L)',
                   day, day_start, day_end);
    EXECUTE format('CREATE TABLE deliveries_%s (LIKE deliveries INCLUDING ALL)', day);
    EXECUTE format('ALTER TABLE deliveries ATTACH PARTITION deliveries_%s FOR VALUES FROM (%L) TO (%L)',
                   day, day_start, day_end);
    -- For statements that name the partition; those that name the table fire its own triggers.
    EXECUTE format('CREATE TRIGGER count_updated AFTER UPDATE ON deliveries_%s '
                   'REFERENCING OLD TABLE AS rows_before NEW TABLE AS rows_after '
                   'FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries()', day);
    INSERT INTO log_days VALUES (day_start, day_end);
    RETURN day_end;
END $$;

-- Drops the oldest day's partition of one table. The deliveries go first, in a transaction of their own: two tables
-- locked at once could deadlock with whoever uses both. Gives up soon, since everybody waits behind this lock.
CREATE OR REPLACE FUNCTION drop_log_day(day_end timestamptz, kind text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = webhooks, pg_temp SET timezone = 'UTC' SET lock_timeout = '100ms' AS $$
DECLARE
    day_start timestamptz;
    name      text;
BEGIN
    IF day_end > date_trunc('day', now() - interval '30 days', 'UTC') OR kind NOT IN ('events', 'deliveries') THEN
        RAISE EXCEPTION 'Nothing of % that ends at % can be dropped', kind, day_end;
    END IF;
    LOCK TABLE log_days IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT since INTO day_start FROM log_days WHERE until = day_end;
    IF day_start IS NULL THEN
        RETURN;
    END IF;
    name := kind || CASE WHEN day_start < '1000-01-01' THEN '_before'
                         ELSE to_char(day_start AT TIME ZONE 'UTC', '_YYYYMMDD') END;
    IF kind = 'deliveries' AND to_regclass(name) IS NOT NULL THEN
        -- Nobody changes these any more, so that the figures can leave out what is still open. One index each:
        -- reading the whole day would hold up statements on all days.
        EXECUTE format('LOCK TABLE %I IN SHARE MODE', name);
        EXECUTE format('INSERT INTO delivery_counts SELECT '
                       '-(SELECT count(*) FROM %1$I WHERE status = ''pending'' AND step = 0) '
                       '-(SELECT count(*) FROM %1$I WHERE status = ''pending'' AND step > 0), '
                       '-(SELECT count(*) FROM %1$I WHERE status = ''dead'')', name);
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS %I', name);
    IF kind = 'events' THEN
        DELETE FROM log_days WHERE until = day_end;
    END IF;
END $$;
