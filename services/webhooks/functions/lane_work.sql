-- What lanes send next: their endpoints, and the deliveries that are due. Each scan ends at its limit, however many wait:
-- the settings keep the planner from reading and sorting them all, which it prefers while its statistics say that
-- nothing waits. A delivery without its event, should there be one, is passed over.

-- A row for each delivery, or one without for a lane that has none; none for a lane that has another token now. One
-- statement, so `wakes` and the deliveries are of one snapshot: if `wakes` were newer, a lane could be released without
-- having seen the delivery that woke it. First attempts get half of what is wanted, however many retries are overdue. A
-- FIFO endpoint has none here: its lane asks for `oldest_deliveries`. `p_held`: loaded already.
CREATE OR REPLACE FUNCTION lane_work(p_endpoints uuid[], p_tokens uuid[], p_held text[], p_halves integer[])
RETURNS TABLE (
    place bigint, wakes bigint, changes bigint, enabled boolean, url text, fifo boolean, rate_limit double precision,
    sealed bytea[], id uuid, event_id uuid, sequence bigint, step smallint, attempt_count integer,
    event_created_at timestamptz, body bytea, traceparent text)
LANGUAGE plpgsql STABLE
SET enable_sort = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH mine AS MATERIALIZED (
        SELECT m.place, l.endpoint_id, l.wakes, l.changes, e.url, e.fifo, e.rate_limit, m.held::uuid[] AS held,
               e.status = 'enabled' AND e.deleted_at IS NULL AS enabled,
               CASE WHEN e.fifo OR e.status <> 'enabled' OR e.deleted_at IS NOT NULL THEN 0
                    ELSE least(m.half, ceil(e.rate_limit / 2)::int) END AS half,
               (SELECT coalesce(array_agg(s.sealed ORDER BY s.created_at DESC), '{}') FROM secrets s
                WHERE s.studio_id = e.studio_id AND s.endpoint_id = e.id
                  AND (s.expires_at IS NULL OR s.expires_at > now())) AS sealed
        FROM unnest(p_endpoints, p_tokens, p_held, p_halves) WITH ORDINALITY
            AS m (endpoint_id, token, held, half, place)
        JOIN lanes l ON l.endpoint_id = m.endpoint_id AND l.token = m.token
        JOIN endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
    )
    SELECT mine.place, mine.wakes, mine.changes, mine.enabled, mine.url, mine.fifo, mine.rate_limit, mine.sealed,
           due.id, due.event_id, due.sequence, due.step, due.attempt_count, due.event_created_at, due.body,
           due.traceparent
    FROM mine LEFT JOIN LATERAL (
        (SELECT d.*, e.body, e.traceparent FROM deliveries d CROSS JOIN LATERAL (
             SELECT e.body, e.traceparent FROM events e
             WHERE e.studio_id = d.studio_id AND e.id = d.event_id AND e.created_at = d.event_created_at LIMIT 1) e
         WHERE d.endpoint_id = mine.endpoint_id AND d.status = 'pending' AND d.step = 0 AND d.id <> ALL (mine.held)
         ORDER BY d.sequence LIMIT mine.half)
        UNION ALL
        (SELECT d.*, e.body, e.traceparent FROM deliveries d CROSS JOIN LATERAL (
             SELECT e.body, e.traceparent FROM events e
             WHERE e.studio_id = d.studio_id AND e.id = d.event_id AND e.created_at = d.event_created_at LIMIT 1) e
         WHERE d.endpoint_id = mine.endpoint_id AND d.status = 'pending' AND d.step > 0 AND d.id <> ALL (mine.held)
           AND d.next_attempt_at <= now()
         ORDER BY d.next_attempt_at LIMIT mine.half)
    ) due ON true;
END $$;

-- For a FIFO endpoint, in their order: its oldest first attempts, and the oldest that was attempted already.
CREATE OR REPLACE FUNCTION oldest_deliveries(p_endpoint uuid, p_limit integer) RETURNS TABLE (
    id uuid, event_id uuid, sequence bigint, step smallint, attempt_count integer, event_created_at timestamptz,
    body bytea, traceparent text, is_due boolean)
LANGUAGE plpgsql STABLE
SET enable_sort = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT taken.id, taken.event_id, taken.sequence, taken.step, taken.attempt_count, taken.event_created_at, taken.body,
           taken.traceparent, taken.step = 0 OR taken.next_attempt_at <= now()
    FROM (
        (SELECT d.*, e.body, e.traceparent FROM deliveries d CROSS JOIN LATERAL (
             SELECT e.body, e.traceparent FROM events e
             WHERE e.studio_id = d.studio_id AND e.id = d.event_id AND e.created_at = d.event_created_at LIMIT 1) e
         WHERE d.endpoint_id = p_endpoint AND d.status = 'pending' AND d.step = 0
         ORDER BY d.sequence LIMIT p_limit)
        UNION ALL
        -- By the index of retries: there are few. OFFSET keeps the planner from walking all deliveries in their order.
        (SELECT d.*, e.body, e.traceparent FROM (
             SELECT d.* FROM deliveries d
             WHERE d.endpoint_id = p_endpoint AND d.status = 'pending' AND d.step > 0 OFFSET 0) d CROSS JOIN LATERAL (
             SELECT e.body, e.traceparent FROM events e
             WHERE e.studio_id = d.studio_id AND e.id = d.event_id AND e.created_at = d.event_created_at LIMIT 1) e
         ORDER BY d.sequence LIMIT 1)
    ) taken
    ORDER BY taken.sequence;
END $$;
