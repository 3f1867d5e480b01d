-- What the rules need to know, as JSON that is decoded straight into rules/booking_facts.py. These functions only
-- read. A caller that decides on the result takes the locks first, in an earlier statement: a statement that waits
-- for a lock continues with the snapshot from before the wait.

-- Holds end by the clock, written or not: those that have not run out, the end of the first of them, and how many have run
-- out and are still to be turned `expired`. Not called for null: a class without holds costs nothing.
CREATE OR REPLACE FUNCTION count_holds(
    p_studio uuid, p_class uuid, p_now timestamptz, OUT live integer, OUT next_end timestamptz, OUT due integer)
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    SELECT count(*) FILTER (WHERE b.held_until > p_now), min(b.held_until) FILTER (WHERE b.held_until > p_now),
           count(*) FILTER (WHERE b.held_until <= p_now)
    INTO live, next_end, due
    FROM bookings b WHERE b.studio_id = p_studio AND b.class_id = p_class AND b.status = 'held';
END $$;

CREATE OR REPLACE FUNCTION class_facts(class classes, p_now timestamptz) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', class.id, 'location_id', class.location_id, 'start_time', class.start_time,
        'status', class.status, 'visible', class.visible, 'capacity', class.capacity,
        'booked_count', class.booked_count, 'waitlist_count', class.waitlist_count,
        'allow_waitlist', class.allow_waitlist, 'waitlist_capacity', class.waitlist_capacity,
        'credit_cost', class.credit_cost, 'spot_selection_mode', class.spot_selection_mode,
        'version', class.version, 'held_count', coalesce(holds.live, 0),
        'next_hold_ends_at', holds.next_end, 'holds_due', coalesce(holds.due, 0))
    FROM count_holds(class.studio_id, CASE WHEN class.held_count > 0 THEN class.id END, p_now) holds
$$;

CREATE OR REPLACE FUNCTION membership_facts(p_studio uuid, p_member uuid) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'status', s.status, 'starts_at', s.starts_at, 'ends_at', s.ends_at, 'auto_renew', s.auto_renew,
        'resumes_at', s.pause -> 'resumes_at', 'effective_at', s.cancellation -> 'effective_at')), '[]')
    FROM memberships s WHERE s.studio_id = p_studio AND s.member_id = p_member
$$;

CREATE OR REPLACE FUNCTION member_facts(member members) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', member.id, 'suspended', member.suspended, 'credits', member.credits,
        'memberships', membership_facts(member.studio_id, member.id))
$$;

CREATE OR REPLACE FUNCTION spot_facts(p_studio uuid, p_class uuid, p_now timestamptz) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object('id', s.id, 'taken', EXISTS (
        SELECT FROM bookings b WHERE b.studio_id = p_studio AND b.class_id = p_class AND b.class_spot_id = s.id
          AND (b.status IN ('confirmed', 'checked_in') OR b.status = 'held' AND b.held_until > p_now)))
        ORDER BY s.sort_order, s.id), '[]')
    FROM class_spots s WHERE s.studio_id = p_studio AND s.class_id = p_class
$$;

-- For a request for a hold: when the member's holds in this class began, how many the client has now.
CREATE OR REPLACE FUNCTION holder_facts(
    p_studio uuid, p_class uuid, p_member uuid, p_holder text, p_now timestamptz) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN json_build_object(
        'of_member', (
            -- Also one that was confirmed and has moved on: it was held in the first class.
            SELECT coalesce(json_agg(b.created_at ORDER BY b.created_at), '[]') FROM bookings b
            WHERE b.studio_id = p_studio AND b.member_id = p_member AND b.held_by IS NOT NULL
              AND b.created_at > p_now - interval '24 hours' AND p_class = coalesce((
                  SELECT r.from_class_id FROM reschedules r
                  WHERE r.studio_id = p_studio AND r.booking_id = b.id
                  ORDER BY r.created_at, r.id LIMIT 1), b.class_id)),
        'of_client', (
            SELECT count(*) FROM bookings b
            WHERE b.studio_id = p_studio AND b.class_id = p_class AND b.status = 'held'
              AND b.held_until > p_now AND b.held_by = p_holder));
END $$;

-- For a whole batch, in its order; `found`: class and member are there. One flat statement: calling the functions above
-- for each took four times as long. `p_holders` has the client where it asks for a hold.
CREATE OR REPLACE FUNCTION booking_facts(
    p_studios uuid[], p_classes uuid[], p_members uuid[], p_holders text[])
RETURNS TABLE (found boolean, class_id uuid, location_id uuid, facts json)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    SELECT (fact.class_).id IS NOT NULL AND (fact.member).id IS NOT NULL, (fact.class_).id,
           (fact.class_).location_id, row_to_json(fact)
    FROM unnest(p_studios, p_classes, p_members, p_holders)
         WITH ORDINALITY AS asked (studio, in_class, by_member, holder, place),
    LATERAL (
        SELECT moment AS now, class_, member, live,
            CASE WHEN coalesce(class_.spot_selection_mode, 'none') = 'none' THEN '[]'::json
                ELSE spot_facts(studio, in_class, moment) END AS spots,
            CASE WHEN holder IS NOT NULL
                THEN holder_facts(studio, in_class, by_member, holder, moment) END AS holds
        FROM (VALUES (1)) one
        LEFT JOIN LATERAL (
            SELECT c.id, c.location_id, c.start_time, c.status, c.visible, c.capacity, c.booked_count,
                c.waitlist_count, c.allow_waitlist, c.waitlist_capacity, c.credit_cost, c.spot_selection_mode,
                c.version, coalesce(h.live, 0) AS held_count, h.next_end AS next_hold_ends_at,
                coalesce(h.due, 0) AS holds_due
            FROM classes c, count_holds(studio, CASE WHEN c.held_count > 0 THEN c.id END, moment) h
            WHERE c.studio_id = studio AND c.id = in_class LIMIT 1) class_ ON true
        LEFT JOIN LATERAL (
            SELECT m.id, m.suspended, m.credits,
                CASE WHEN class_.credit_cost = 0 THEN '[]'::json ELSE membership_facts(studio, m.id) END AS memberships
            FROM members m WHERE m.studio_id = studio AND m.id = by_member LIMIT 1) member ON true
        LEFT JOIN LATERAL (
            SELECT b.id, b.status FROM bookings b
            WHERE b.studio_id = studio AND b.class_id = in_class AND b.member_id = by_member
              AND b.status IN ('held', 'confirmed', 'checked_in', 'waitlisted')
              AND (b.status <> 'held' OR b.held_until > moment) LIMIT 1) live ON true) fact
    ORDER BY place;
END $$;
