-- An answer's row is written by the transaction that made its effect. A key whose row is not there yet, but whose
-- advisory lock is held, is in progress. `class_id` lets a replay check the location again.
CREATE TABLE idempotency_keys (
    studio_id   uuid        NOT NULL,
    client_id   text        NOT NULL,
    key         text        NOT NULL,
    fingerprint bytea       NOT NULL,
    http_status smallint    NOT NULL,
    body        bytea       NOT NULL,
    resource_id uuid,
    class_id    uuid,
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (studio_id, client_id, key)
);
CREATE INDEX idempotency_keys_to_prune ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_by_resource ON idempotency_keys (studio_id, resource_id);

CREATE FUNCTION key_lock(p_studio uuid, p_client text, p_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(p_studio::text || '/' || p_client || '/' || p_key, 0);

-- Claims the key for this transaction: 'busy' when another request holds it, 'stored' when it has an answer that
-- is still replayable, else 'new'. Each statement in here sees what was committed before it, which one plain
-- statement would not: its snapshot is older than the lock.
CREATE FUNCTION claim_key(
    p_studio uuid, p_client text, p_key text,
    OUT state text, OUT fingerprint bytea, OUT http_status smallint, OUT body bytea,
    OUT class_id uuid, OUT location_id uuid)
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(key_lock(p_studio, p_client, p_key)) THEN
        state := 'busy';
        RETURN;
    END IF;
    SELECT k.fingerprint, k.http_status, k.body, k.class_id, c.location_id
    INTO fingerprint, http_status, body, class_id, location_id
    FROM idempotency_keys k LEFT JOIN classes c ON c.studio_id = k.studio_id AND c.id = k.class_id
    WHERE k.studio_id = p_studio AND k.client_id = p_client AND k.key = p_key
      AND k.expires_at > clock_timestamp();
    state := CASE WHEN FOUND THEN 'stored' ELSE 'new' END;
END $$;
