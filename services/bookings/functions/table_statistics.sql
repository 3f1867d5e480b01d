-- Analyzes tables that have more than doubled. A connection keeps its query plans until an ANALYZE, and autovacuum
-- comes only once a minute: until then each booking would scan a table that was small, or empty, before an import.
-- SECURITY DEFINER: only a table's owner may analyze it.
CREATE OR REPLACE FUNCTION analyze_grown() RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER
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
