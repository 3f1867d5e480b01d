-- Every lock of this service, and how a booking claims its idempotency key. store/locks.py has the lock order.

-- Waits for the class.
CREATE OR REPLACE FUNCTION lock_class(p_studio uuid, p_class uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id = p_class FOR NO KEY UPDATE;
END $$;

-- Waits for the classes, in id order.
CREATE OR REPLACE FUNCTION lock_classes(p_studio uuid, p_classes uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id = ANY (p_classes) ORDER BY id FOR NO KEY UPDATE;
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
-- the member and reads the facts; `p_holders` has the client where it asks for a hold. Without `p_wait` it never waits: what another transaction holds is reported as
-- 'locked'. With it, it does wait; the requests must then be for one class, in member-id order.
CREATE OR REPLACE FUNCTION start_bookings(
    p_studios uuid[], p_clients text[], p_keys text[], p_classes uuid[], p_members uuid[], p_holders text[],
    p_wait boolean)
RETURNS TABLE (
    state text, fingerprint bytea, http_status smallint, body bytea, class_id uuid, location_id uuid, facts json)
LANGUAGE plpgsql AS $$
DECLARE
    locked boolean;
BEGIN
    FOR n IN 1 .. cardinality(p_keys) LOOP
        facts := NULL;
        SELECT * INTO state, fingerprint, http_status, body
        FROM claim_key(p_studios[n], p_clients[n], p_keys[n]);
        -- A replay checks the location again.
        SELECT c.id, c.location_id INTO class_id, location_id FROM classes c
        WHERE state = 'stored' AND c.studio_id = p_studios[n] AND c.id = p_classes[n];
        IF state = 'new' THEN
            IF p_wait THEN
                PERFORM lock_class(p_studios[n], p_classes[n]);
                PERFORM lock_members(p_studios[n], ARRAY[p_members[n]]);
            END IF;
            locked := has_class_lock(p_studios[n], p_classes[n]) AND has_member_lock(p_studios[n], p_members[n]);
            IF locked IS NOT FALSE THEN
                facts := booking_facts(p_studios[n], p_classes[n], p_members[n], p_holders[n]);
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
