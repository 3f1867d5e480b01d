-- A plan that a connection keeps outlives the size that its tables had when it was made, and is made anew only
-- after an ANALYZE. Autovacuum comes by once a minute: until then each booking read a table whole that was small,
-- or empty, before an import. This does not wait for it. SECURITY DEFINER: only a table's owner may analyze it.
CREATE FUNCTION analyze_grown() RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
DECLARE
    grown regclass;
BEGIN
    FOR grown IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'bookings'::regnamespace AND c.relkind = 'r'
          AND pg_relation_size(c.oid) / current_setting('block_size')::integer > 16 + 2 * greatest(c.relpages, 0)
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
        RETURN NEXT grown::text;
    END LOOP;
END $$;
