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

CREATE OR REPLACE FUNCTION member_facts(member members) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', member.id, 'suspended', member.suspended, 'credits', member.credits,
        'memberships', (
            SELECT coalesce(json_agg(json_build_object(
                'status', s.status, 'starts_at', s.starts_at, 'ends_at', s.ends_at, 'auto_renew', s.auto_renew,
                'resumes_at', s.pause -> 'resumes_at',
                'effective_at', s.cancellation -> 'effective_at')), '[]')
            FROM memberships s WHERE s.studio_id = member.studio_id AND s.member_id = member.id))
$$;

CREATE OR REPLACE FUNCTION spot_facts(p_studio uuid, p_class uuid, p_now timestamptz) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object('id', s.id, 'taken', EXISTS (
        SELECT FROM bookings b WHERE b.studio_id = p_studio AND b.class_id = p_class AND b.class_spot_id = s.id
          AND (b.status IN ('confirmed', 'checked_in') OR b.status = 'held' AND b.held_until > p_now)))
        ORDER BY s.sort_order, s.id), '[]')
    FROM class_spots s WHERE s.studio_id = p_studio AND s.class_id = p_class
$$;

-- One flat statement: calling the functions above took four times as long. `p_holder`: the client that asks for a hold,
-- whose limits are counted then.
CREATE OR REPLACE FUNCTION booking_facts(p_studio uuid, p_class uuid, p_member uuid, p_holder text) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    RETURN (
        SELECT json_build_object(
            'now', moment,
            'class_', CASE WHEN c.id IS NOT NULL THEN json_build_object(
                'id', c.id, 'location_id', c.location_id, 'start_time', c.start_time, 'status', c.status,
                'visible', c.visible, 'capacity', c.capacity, 'booked_count', c.booked_count,
                'waitlist_count', c.waitlist_count, 'allow_waitlist', c.allow_waitlist,
                'waitlist_capacity', c.waitlist_capacity, 'credit_cost', c.credit_cost,
                'spot_selection_mode', c.spot_selection_mode, 'version', c.version,
                'held_count', coalesce(holds.live, 0), 'next_hold_ends_at', holds.next_end,
                'holds_due', coalesce(holds.due, 0)) END,
            'member', CASE WHEN m.id IS NOT NULL THEN json_build_object(
                'id', m.id, 'suspended', m.suspended, 'credits', m.credits,
                'memberships', CASE WHEN c.credit_cost = 0 THEN '[]'::json ELSE (
                    SELECT coalesce(json_agg(json_build_object(
                        'status', s.status, 'starts_at', s.starts_at, 'ends_at', s.ends_at,
                        'auto_renew', s.auto_renew, 'resumes_at', s.pause -> 'resumes_at',
                        'effective_at', s.cancellation -> 'effective_at')), '[]')
                    FROM memberships s WHERE s.studio_id = p_studio AND s.member_id = p_member) END) END,
            'live', (
                SELECT json_build_object('id', b.id, 'status', b.status) FROM bookings b
                WHERE b.studio_id = p_studio AND b.class_id = p_class AND b.member_id = p_member
                  AND b.status IN ('held', 'confirmed', 'checked_in', 'waitlisted')
                  AND (b.status <> 'held' OR b.held_until > moment)),
            'spots', CASE WHEN coalesce(c.spot_selection_mode, 'none') = 'none' THEN '[]'::json
                ELSE spot_facts(p_studio, p_class, moment) END,
            'holds', CASE WHEN p_holder IS NOT NULL THEN json_build_object(
                'of_member', (
                    -- Also one that was confirmed and has moved on: it was held in the first class.
                    SELECT coalesce(json_agg(b.created_at ORDER BY b.created_at), '[]') FROM bookings b
                    WHERE b.studio_id = p_studio AND b.member_id = p_member AND b.held_by IS NOT NULL
                      AND b.created_at > moment - interval '24 hours' AND p_class = coalesce((
                          SELECT r.from_class_id FROM reschedules r
                          WHERE r.studio_id = p_studio AND r.booking_id = b.id
                          ORDER BY r.created_at, r.id LIMIT 1), b.class_id)),
                'of_client', (
                    SELECT count(*) FROM bookings b
                    WHERE b.studio_id = p_studio AND b.class_id = p_class AND b.status = 'held'
                      AND b.held_until > moment AND b.held_by = p_holder)) END)
        FROM (VALUES (1)) one
        LEFT JOIN classes c ON c.studio_id = p_studio AND c.id = p_class
        CROSS JOIN LATERAL count_holds(p_studio, CASE WHEN c.held_count > 0 THEN c.id END, moment) holds
        LEFT JOIN members m ON m.studio_id = p_studio AND m.id = p_member);
END $$;
