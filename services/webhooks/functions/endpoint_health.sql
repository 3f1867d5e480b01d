-- How endpoints are doing, from short scans of indexes: whatever waits, each costs a few pages. Two failures without a success
-- in between: it fails. Deliveries are counted up to 1,000 of each kind.
CREATE OR REPLACE FUNCTION endpoint_health(p_endpoints uuid[]) RETURNS TABLE (
    id uuid, studio_id uuid, url text, description text, failing_since timestamptz, health text, breaker text,
    next_attempt_at timestamptz, pending bigint, oldest_pending_at timestamptz, dead bigint, last_error jsonb)
LANGUAGE sql STABLE AS $$
    SELECT e.id, e.studio_id, e.url, e.description, l.failing_since,
        CASE WHEN e.status = 'disabled' THEN 'disabled' WHEN l.last_failed_at > l.failing_since THEN 'failing'
             WHEN l.failing_since IS NOT NULL THEN 'degraded' ELSE 'healthy' END,
        CASE WHEN l.paused_until > now() THEN 'open' ELSE 'closed' END,
        CASE WHEN l.due_at < 'infinity' AND open.pending > 0 THEN greatest(l.due_at, now()) END,
        least(open.pending, 1000), open.oldest, dead.count,
        CASE WHEN l.failing_since IS NOT NULL THEN coalesce(
            (SELECT attempts -> -1 FROM webhooks.deliveries d WHERE d.endpoint_id = e.id AND d.status = 'pending'
               AND d.step > 0 ORDER BY d.next_attempt_at DESC LIMIT 1),
            (SELECT attempts -> -1 FROM webhooks.deliveries d WHERE d.endpoint_id = e.id AND d.status = 'dead'
             ORDER BY d.sequence DESC LIMIT 1)) END
    FROM unnest(p_endpoints) WITH ORDINALITY AS wanted (id, place)
    JOIN webhooks.lanes l ON l.endpoint_id = wanted.id
    JOIN webhooks.endpoints e ON e.studio_id = l.studio_id AND e.id = l.endpoint_id
    CROSS JOIN LATERAL (
        SELECT count(*) AS pending, min(created_at) AS oldest FROM (
            (SELECT created_at FROM webhooks.deliveries d
             WHERE d.endpoint_id = e.id AND d.status = 'pending' AND d.step = 0 ORDER BY d.sequence LIMIT 1000)
            UNION ALL
            (SELECT created_at FROM webhooks.deliveries d
             WHERE d.endpoint_id = e.id AND d.status = 'pending' AND d.step > 0
             ORDER BY d.next_attempt_at LIMIT 1000)) waiting) open
    CROSS JOIN LATERAL (
        SELECT count(*) AS count FROM (
            SELECT FROM webhooks.deliveries d WHERE d.endpoint_id = e.id AND d.status = 'dead'
            ORDER BY d.sequence LIMIT 1000) given_up) dead
    ORDER BY wanted.place
$$;

-- Adds what dispatchers have counted, and forgets what is older than a day. An endpoint that is gone is left out.
CREATE OR REPLACE FUNCTION count_attempts(
    p_endpoints uuid[], p_hours bigint[], p_buckets int[], p_succeeded int[], p_failed int[])
RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhooks.attempt_hours AS a (studio_id, endpoint_id, hour, bucket, succeeded, failed)
    SELECT l.studio_id, l.endpoint_id, to_timestamp(n.hour), n.bucket, n.succeeded, n.failed
    FROM unnest(p_endpoints, p_hours, p_buckets, p_succeeded, p_failed)
        AS n (endpoint_id, hour, bucket, succeeded, failed)
    JOIN webhooks.lanes l ON l.endpoint_id = n.endpoint_id
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (studio_id, endpoint_id, hour, bucket) DO UPDATE
    SET succeeded = a.succeeded + excluded.succeeded, failed = a.failed + excluded.failed;
    DELETE FROM webhooks.attempt_hours WHERE hour < now() - interval '25 hours';
$$;
