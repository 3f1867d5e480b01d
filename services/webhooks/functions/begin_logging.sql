-- What the event log has to know before it stores events, in one round trip. Locks the counters of the studios, in
-- the order of their ids, and then looks: each statement here sees what was committed before it began, so also what
-- the last holder of the lock has stored. A counter that somebody else has just made is locked, too, before it is
-- read. First a row with the ids of those that are logged already, and of those about people who were erased, and the
-- studios of which a fan-out is unfinished. Then for each studio its last sequence, with a row for all enabled
-- endpoints that want the same, or one without. A copy of an event has the same `created_at`, so that only the weeks
-- of these moments are searched.
CREATE OR REPLACE FUNCTION begin_logging(
    p_studios uuid[], p_event_studios uuid[], p_events uuid[], p_people uuid[], p_first timestamptz, p_last timestamptz)
RETURNS TABLE (
    logged uuid[], erased uuid[], unfinished uuid[], studio_id uuid, last_sequence bigint, endpoint_ids uuid[],
    client_id text, event_types text[], scopes text[], location_ids uuid[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_locked bigint;
BEGIN
    LOOP
        PERFORM FROM event_counters c WHERE c.studio_id = ANY (p_studios) ORDER BY c.studio_id FOR UPDATE;
        GET DIAGNOSTICS v_locked = ROW_COUNT;
        EXIT WHEN v_locked = cardinality(p_studios);
        INSERT INTO event_counters (studio_id) SELECT unnest(p_studios) ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN QUERY
    SELECT ARRAY(SELECT e.id FROM events e
                 WHERE e.studio_id = ANY (p_studios) AND e.id = ANY (p_events)
                   AND e.created_at >= p_first AND e.created_at <= p_last),
           ARRAY(SELECT e.id FROM unnest(p_event_studios, p_events, p_people) AS e (studio_id, id, person_id)
                 JOIN erased_people p ON p.studio_id = e.studio_id AND p.person_id = e.person_id),
           ARRAY(SELECT f.studio_id FROM fan_outs f WHERE f.studio_id = ANY (p_studios)),
           NULL::uuid, NULL::bigint, NULL::uuid[], NULL::text, NULL::text[], NULL::text[], NULL::uuid[];
    RETURN QUERY
    SELECT NULL::uuid[], NULL::uuid[], NULL::uuid[], c.studio_id, c.last_sequence,
           array_agg(e.id) FILTER (WHERE e.id IS NOT NULL), e.client_id, e.event_types, e.scopes, e.location_ids
    FROM event_counters c LEFT JOIN endpoints e
      ON e.studio_id = c.studio_id AND e.status = 'enabled' AND e.deleted_at IS NULL
    WHERE c.studio_id = ANY (p_studios)
    GROUP BY c.studio_id, e.client_id, e.event_types, e.scopes, e.location_ids;
END $$;
