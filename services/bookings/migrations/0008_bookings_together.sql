-- Many bookings begin in one round trip, each with a key of its own. Nothing here waits: what another transaction
-- holds is told as 'locked', so that a booking never waits for the lock of another one's class. With `p_patient`
-- it does wait, for asks of one class only, in the order of their member ids (store/locks.py).
-- `start_booking` stays for the version before this one, which may still be running.

-- True once the lock is ours, false where another transaction has it, null where there is nothing to lock.
CREATE FUNCTION has_class_lock(p_studio uuid, p_class uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id = p_class FOR NO KEY UPDATE SKIP LOCKED;
    RETURN CASE WHEN FOUND THEN true
        WHEN EXISTS (SELECT FROM classes WHERE studio_id = p_studio AND id = p_class) THEN false END;
END $$;

CREATE FUNCTION has_member_lock(p_studio uuid, p_member uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = p_member FOR NO KEY UPDATE SKIP LOCKED;
    RETURN CASE WHEN FOUND THEN true
        WHEN EXISTS (SELECT FROM members WHERE studio_id = p_studio AND id = p_member) THEN false END;
END $$;

CREATE FUNCTION start_bookings(
    p_studios uuid[], p_clients text[], p_keys text[], p_classes uuid[], p_members uuid[], p_patient boolean)
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
            IF p_patient THEN
                PERFORM lock_class(p_studios[n], p_classes[n]);
                PERFORM lock_members(p_studios[n], ARRAY[p_members[n]]);
            END IF;
            locked := has_class_lock(p_studios[n], p_classes[n]) AND has_member_lock(p_studios[n], p_members[n]);
            IF locked IS NOT FALSE THEN
                facts := booking_facts(p_studios[n], p_classes[n], p_members[n]);
            END IF;
            -- Not there to be locked, and there a moment later: an import has just brought it.
            IF locked IS NOT TRUE AND (facts IS NULL
                OR facts ->> 'class_' IS NOT NULL AND facts ->> 'member' IS NOT NULL) THEN
                state := 'locked';
                facts := NULL;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
