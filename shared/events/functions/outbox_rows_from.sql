-- The oldest rows in any state from an id on, for figures. Always along the key: see oldest_outbox_rows.
CREATE OR REPLACE FUNCTION outbox_rows_from(p_start bigint, p_rows integer)
RETURNS TABLE (id bigint, event_id uuid, studio_id uuid, created_at timestamptz, sent_at timestamptz, parked_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT o.id, o.event_id, o.studio_id, o.created_at, o.sent_at, o.parked_at FROM outbox o
    WHERE o.id >= p_start ORDER BY o.id LIMIT p_rows;
END $$;
