-- The advisory lock of an idempotency key.
CREATE OR REPLACE FUNCTION key_lock(p_studio uuid, p_client text, p_key text) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN hashtextextended(current_schema() || '/' || p_studio::text || '/' || p_client || '/' || p_key, 0);

-- Claims keys for this transaction, in their order: 'busy' when another request holds it, 'stored' when it has a response
-- that can still be replayed, else 'new'. A function, because each statement in it sees what was committed before that
-- statement; one plain statement would use a snapshot older than the lock.
CREATE OR REPLACE FUNCTION claim_keys(p_studios uuid[], p_clients text[], p_keys text[])
RETURNS TABLE (state text, fingerprint bytea, http_status smallint, body bytea)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    mine boolean[];
BEGIN
    mine := ARRAY(
        SELECT pg_try_advisory_xact_lock(key_lock(studio, client, key))
        FROM unnest(p_studios, p_clients, p_keys) AS asked (studio, client, key));
    RETURN QUERY
    SELECT CASE WHEN NOT asked.mine THEN 'busy' WHEN k.key IS NULL THEN 'new' ELSE 'stored' END,
           k.fingerprint, k.http_status, k.body
    FROM unnest(p_studios, p_clients, p_keys, mine)
         WITH ORDINALITY AS asked (studio, client, key, mine, place)
    LEFT JOIN LATERAL (
        SELECT * FROM idempotency_keys k
        WHERE asked.mine AND k.studio_id = asked.studio AND k.client_id = asked.client AND k.key = asked.key
          AND k.expires_at > clock_timestamp() LIMIT 1) k ON true
    ORDER BY asked.place;
END $$;
