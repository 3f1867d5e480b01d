-- The oldest rows of these buckets from an id on, without parked ones and without some aggregates.
-- Always along the key, whatever the statistics of a table say that is empty at one moment and full at the next: only
-- such a scan stops after `p_rows` and removes the index entries of dead rows on its way. PL/pgSQL keeps the plan.
CREATE OR REPLACE FUNCTION oldest_outbox_rows(p_buckets smallint[], p_without text[], p_start bigint, p_rows integer)
RETURNS TABLE (id bigint, bucket smallint, studio_id uuid, aggregate text, sent_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT o.id, o.bucket, o.studio_id, o.aggregate, o.sent_at FROM outbox o
    WHERE o.bucket = ANY (p_buckets) AND o.parked_at IS NULL AND o.aggregate <> ALL (p_without) AND o.id >= p_start
    ORDER BY o.id LIMIT p_rows;
END $$;
