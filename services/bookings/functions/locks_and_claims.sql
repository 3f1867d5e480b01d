-- Every lock of this service, and how a booking claims its idempotency key. store/locks.py has the lock order.

-- The advisory lock of an idempotency key.
CREATE OR REPLACE FUNCTION key_lock(p_studio uuid, p_client text, p_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(p_studio::text || '/' || p_client || '/' || p_key, 0);

-- Claims the key for this transaction: 'busy' when another request holds it, 'stored' when it has an answer that can
-- still be replayed, else 'new'. A function, because each statement in it sees what was committed before that
-- statement; one plain statement would use a snapshot older than the lock.
CREATE OR REPLACE FUNCTION claim_key(
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

-- Waits for the class.
CREATE OR REPLACE FUNCTION lock_class(p_studio uuid, p_class uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id = p_class FOR NO KEY UPDATE;
END $$;

-- Waits for the members, in id order.
CREATE OR REPLACE FUNCTION lock_members(p_studio uuid, p_members uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = ANY (p_members) ORDER BY id FOR NO KEY UPDATE;
END $$;

-- Does not wait. True: locked. False: another transaction holds it. Null: no such class.
CREATE OR REPLACE FUNCTION has_class_lock(p_studio uuid, p_class uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id = p_class FOR NO KEY UPDATE SKIP LOCKED;
    RETURN CASE WHEN FOUND THEN true
        WHEN EXISTS (SELECT FROM classes WHERE studio_id = p_studio AND id = p_class) THEN false END;
END $$;

-- Does not wait. True: locked. False: another transaction holds it. Null: no such member.
CREATE OR REPLACE FUNCTION has_member_lock(p_studio uuid, p_member uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = p_member FOR NO KEY UPDATE SKIP LOCKED;
    RETURN CASE WHEN FOUND THEN true
        WHEN EXISTS (SELECT FROM members WHERE studio_id = p_studio AND id = p_member) THEN false END;
END $$;

-- The first half of a batch of bookings in one round trip: claims each key and, where it is new, locks the class and
-- the member and reads the facts. Without `p_wait` it never waits: what another transaction holds is reported as
-- 'locked'. With it, it does wait; the requests must then be for one class, in member-id order.
CREATE OR REPLACE FUNCTION start_bookings(
    p_studios uuid[], p_clients text[], p_keys text[], p_classes uuid[], p_members uuid[], p_wait boolean)
RETURNS TABLE (
    state text, fingerprint bytea, http_status smallint, body bytea, class_id uuid, location_id uuid, facts json)
LANGUAGE plpgsql AS $$
DECLARE
    locked boolean;
BEGIN
    FOR n IN 1 .. cardinality(p_keys) LOOP
        facts := NULL;
        SELECT * INTO state, fingerprint, http_status, body, class_id, location_id
        FROM claim_key(p_studios[n], p_clients[n], p_keys[n]);
        IF state = 'new' THEN
            IF p_wait THEN
                PERFORM lock_class(p_studios[n], p_classes[n]);
                PERFORM lock_members(p_studios[n], ARRAY[p_members[n]]);
            END IF;
            locked := has_class_lock(p_studios[n], p_classes[n]) AND has_member_lock(p_studios[n], p_members[n]);
            IF locked IS NOT FALSE THEN
                facts := booking_facts(p_studios[n], p_classes[n], p_members[n]);
            END IF;
            -- Missing when we tried to lock it, there when we read it: an import has just added it.
            IF locked IS NOT TRUE AND (facts IS NULL
                OR facts ->> 'class_' IS NOT NULL AND facts ->> 'member' IS NOT NULL) THEN
                state := 'locked';
                facts := NULL;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
