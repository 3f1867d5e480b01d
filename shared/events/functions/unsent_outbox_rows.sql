-- The oldest rows of each stream that are not among `p_sent`. A stream is a partition from an id on: of one studio, or
-- of all but `p_backlogs`.
-- Always along the key, whatever the statistics of a table say that is empty at one moment and full at the next: only
-- such a scan stops after `rows`, and removes the index entries of dead rows on its way. PL/pgSQL keeps the plan.
CREATE OR REPLACE FUNCTION unsent_outbox_rows(
    p_partitions smallint[], p_floors bigint[], p_studios uuid[], p_rows integer[], p_sent bigint[], p_backlogs uuid[])
RETURNS TABLE (stream bigint, id bigint, event_id uuid, studio_id uuid, type text, envelope bytea, traceparent text)
LANGUAGE plpgsql STABLE ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT s.place, o.id, o.event_id, o.studio_id, o.type, o.envelope, o.traceparent
    FROM unnest(p_partitions, p_floors, p_studios, p_rows)
         WITH ORDINALITY AS s (partition, floor, studio, rows, place)
    CROSS JOIN LATERAL (
        SELECT * FROM outbox AS row
        WHERE row.partition = s.partition AND row.id > s.floor AND row.id NOT IN (SELECT unnest(p_sent))
          AND CASE WHEN s.studio IS NULL THEN row.studio_id <> ALL (p_backlogs) ELSE row.studio_id = s.studio END
        ORDER BY row.id LIMIT s.rows) AS o
    ORDER BY s.place, o.id;
END $$;
