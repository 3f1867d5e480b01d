-- The advisory lock of an idempotency key.
CREATE OR REPLACE FUNCTION key_lock(p_studio uuid, p_client text, p_key text) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN hashtextextended(current_schema() || '/' || p_studio::text || '/' || p_client || '/' || p_key, 0);

-- Claims the key for this transaction: 'busy' when another request holds it, 'stored' when it has a response that can
-- still be replayed, else 'new'. A function, because each statement in it sees what was committed before that
-- statement; one plain statement would use a snapshot older than the lock.
CREATE OR REPLACE FUNCTION claim_key(
    p_studio uuid, p_client text, p_key text,
    OUT state text, OUT fingerprint bytea, OUT http_status smallint, OUT body bytea)
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(key_lock(p_studio, p_client, p_key)) THEN
        state := 'busy';
        RETURN;
    END IF;
    SELECT k.fingerprint, k.http_status, k.body INTO fingerprint, http_status, body FROM idempotency_keys k
    WHERE k.studio_id = p_studio AND k.client_id = p_client AND k.key = p_key
      AND k.expires_at > clock_timestamp();
    state := CASE WHEN FOUND THEN 'stored' ELSE 'new' END;
END $$;
