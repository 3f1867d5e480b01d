-- The ids of an event's deliveries, which begin like its own. By the primary key, whatever the statistics say.
CREATE OR REPLACE FUNCTION deliveries_of(p_studio uuid, p_event uuid, p_created_at timestamptz) RETURNS SETOF uuid
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
    SELECT id FROM webhooks.deliveries
    WHERE studio_id = p_studio AND event_id = p_event AND event_created_at = p_created_at
      AND id BETWEEN (left(p_event::text, 19) || '0000-000000000000')::uuid
                 AND (left(p_event::text, 19) || 'ffff-ffffffffffff')::uuid
$$;
