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

-- Does not wait: of the classes at these places of a batch, locks those that are free, and returns their places.
CREATE OR REPLACE FUNCTION lock_free_classes(p_studios uuid[], p_classes uuid[], p_places bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN ARRAY(
        SELECT place
        FROM unnest(p_studios, p_classes) WITH ORDINALITY AS asked (studio, class, place),
             LATERAL (SELECT FROM classes c WHERE c.studio_id = studio AND c.id = class
                      FOR NO KEY UPDATE SKIP LOCKED) locked
        WHERE place = ANY (p_places));
END $$;

-- The same for members.
CREATE OR REPLACE FUNCTION lock_free_members(p_studios uuid[], p_members uuid[], p_places bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN ARRAY(
        SELECT place
        FROM unnest(p_studios, p_members) WITH ORDINALITY AS asked (studio, member, place),
             LATERAL (SELECT FROM members m WHERE m.studio_id = studio AND m.id = member
                      FOR NO KEY UPDATE SKIP LOCKED) locked
        WHERE place = ANY (p_places));
END $$;

-- The first half of a batch of bookings in one round trip: claims each key and, where it is new, locks the class and the
-- member and reads the facts; `p_holders` has the client where it asks for a hold. Without `p_wait` it never waits: what
-- another transaction holds is reported as 'locked'. With it, it does wait; the requests must then be for one class.
-- Each step is one statement for the whole batch: with a statement for each request it took three times as long.
CREATE OR REPLACE FUNCTION start_bookings(
    p_studios uuid[], p_clients text[], p_keys text[], p_classes uuid[], p_members uuid[], p_holders text[],
    p_wait boolean)
RETURNS TABLE (
    state text, fingerprint bytea, http_status smallint, body bytea, class_id uuid, location_id uuid, facts json)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    states text[];
    fingerprints bytea[];
    statuses smallint[];
    bodies bytea[];
    new_ones bigint[];
    locked bigint[];
BEGIN
    SELECT array_agg(k.state), array_agg(k.fingerprint), array_agg(k.http_status), array_agg(k.body),
           array_agg(k.place) FILTER (WHERE k.state = 'new')
    INTO states, fingerprints, statuses, bodies, new_ones
    FROM claim_keys(p_studios, p_clients, p_keys)
         WITH ORDINALITY AS k (state, fingerprint, http_status, body, place);
    IF p_wait AND new_ones IS NOT NULL THEN
        PERFORM lock_class(p_studios[1], p_classes[1]);
        PERFORM lock_members(p_studios[1], ARRAY(SELECT p_members[n] FROM unnest(new_ones) AS n));
    END IF;
    locked := lock_free_classes(p_studios, p_classes, new_ones);
    locked := lock_free_members(p_studios, p_members, locked);
    RETURN QUERY
    -- There, but not locked: another transaction holds it, or an import has just added it.
    SELECT CASE WHEN asked.state = 'new' AND asked.found AND NOT asked.place = ANY (locked) THEN 'locked'
                ELSE asked.state END,
           asked.fingerprint, asked.http_status, asked.body, asked.class_id, asked.location_id,
           CASE WHEN asked.state = 'new' AND (NOT asked.found OR asked.place = ANY (locked)) THEN asked.facts END
    FROM ROWS FROM (
        unnest(states, fingerprints, statuses, bodies),
        booking_facts(p_studios, p_classes, p_members, p_holders)
    ) WITH ORDINALITY AS asked (
        state, fingerprint, http_status, body, found, class_id, location_id, facts, place);
END $$;
