-- The floor under a hold, its confirmation and a move: the same claims, locks, checks and rows, decided by the database in
-- one statement for each request.
CREATE FUNCTION bookings.bench_claim(p_studio uuid, p_key text) RETURNS void
LANGUAGE plpgsql SET search_path = bookings AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(key_lock(p_studio, 'bench', p_key)) THEN
        RAISE EXCEPTION 'the key is busy';
    END IF;
    PERFORM 1 FROM idempotency_keys WHERE studio_id = p_studio AND client_id = 'bench' AND key = p_key;
    IF FOUND THEN
        RAISE EXCEPTION 'the key is used';
    END IF;
END $$;

-- The event and the stored response.
CREATE FUNCTION bookings.bench_tell(p_studio uuid, p_key text, p_booking uuid, p_event text) RETURNS void
LANGUAGE plpgsql SET search_path = bookings AS $$
BEGIN
    INSERT INTO outbox (partition, event_id, studio_id, type, envelope)
    VALUES (outbox_partition(p_studio), gen_random_uuid(), p_studio, p_event, convert_to(repeat('e', 800), 'UTF8'));
    INSERT INTO idempotency_keys
        (studio_id, client_id, key, route, fingerprint, http_status, body, resource_id, expires_at)
    VALUES (p_studio, 'bench', p_key, p_event, '\x00', 200, convert_to(repeat('b', 600), 'UTF8'), p_booking,
            clock_timestamp() + interval '24 hours');
END $$;

CREATE FUNCTION bookings.bench_hold(p_studio uuid, p_class uuid, p_member uuid, p_booking uuid, p_key text) RETURNS void
LANGUAGE plpgsql SET search_path = bookings AS $$
DECLARE
    class classes;
BEGIN
    PERFORM bench_claim(p_studio, p_key);
    SELECT * INTO class FROM classes WHERE studio_id = p_studio AND id = p_class FOR NO KEY UPDATE;
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = p_member AND NOT suspended FOR NO KEY UPDATE;
    IF NOT FOUND OR class.booked_count + class.held_count >= class.capacity OR class.status <> 'scheduled' THEN
        RAISE EXCEPTION 'no seat';
    END IF;
    PERFORM 1 FROM bookings WHERE studio_id = p_studio AND class_id = p_class AND member_id = p_member
        AND status IN ('held', 'confirmed', 'checked_in', 'waitlisted');
    IF FOUND THEN
        RAISE EXCEPTION 'booked already';
    END IF;
    UPDATE classes SET version = version + 1, held_count = held_count + 1 WHERE studio_id = p_studio AND id = p_class;
    INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source, held_until, held_by,
                          only_held, created_at, updated_at)
    VALUES (p_studio, p_booking, p_class, p_member, class.location_id, 'held', 'bench',
            clock_timestamp() + interval '15 minutes', 'bench', true, clock_timestamp(), clock_timestamp());
    PERFORM bench_tell(p_studio, p_key, p_booking, 'booking.held');
END $$;

CREATE FUNCTION bookings.bench_confirm(p_studio uuid, p_booking uuid, p_key text) RETURNS void
LANGUAGE plpgsql SET search_path = bookings AS $$
DECLARE
    booking bookings;
BEGIN
    PERFORM bench_claim(p_studio, p_key);
    SELECT * INTO booking FROM bookings WHERE studio_id = p_studio AND id = p_booking;
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id = booking.class_id FOR NO KEY UPDATE;
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = booking.member_id AND NOT suspended FOR NO KEY UPDATE;
    PERFORM 1 FROM bookings WHERE studio_id = p_studio AND id = p_booking AND status = 'held'
        AND held_until > clock_timestamp();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'not held';
    END IF;
    UPDATE classes SET version = version + 1, held_count = held_count - 1, booked_count = booked_count + 1
    WHERE studio_id = p_studio AND id = booking.class_id;
    UPDATE bookings SET status = 'confirmed', only_held = false, version = version + 1, updated_at = clock_timestamp()
    WHERE studio_id = p_studio AND id = p_booking;
    PERFORM bench_tell(p_studio, p_key, p_booking, 'booking.created');
END $$;

CREATE FUNCTION bookings.bench_move(p_studio uuid, p_booking uuid, p_class uuid, p_key text) RETURNS void
LANGUAGE plpgsql SET search_path = bookings AS $$
DECLARE
    booking bookings;
    target  classes;
BEGIN
    PERFORM bench_claim(p_studio, p_key);
    SELECT * INTO booking FROM bookings WHERE studio_id = p_studio AND id = p_booking;
    PERFORM 1 FROM classes WHERE studio_id = p_studio AND id IN (booking.class_id, p_class) ORDER BY id
        FOR NO KEY UPDATE;
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = booking.member_id AND NOT suspended FOR NO KEY UPDATE;
    PERFORM 1 FROM bookings WHERE studio_id = p_studio AND id = p_booking AND status = 'confirmed'
        AND class_id = booking.class_id AND class_id <> p_class;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'not movable';
    END IF;
    PERFORM 1 FROM bookings WHERE studio_id = p_studio AND class_id = p_class AND member_id = booking.member_id
        AND status IN ('held', 'confirmed', 'checked_in', 'waitlisted');
    IF FOUND THEN
        RAISE EXCEPTION 'booked already';
    END IF;
    SELECT * INTO target FROM classes WHERE studio_id = p_studio AND id = p_class;
    IF target.booked_count + target.held_count >= target.capacity OR target.status <> 'scheduled' THEN
        RAISE EXCEPTION 'no seat';
    END IF;
    UPDATE classes SET version = version + 1, booked_count = booked_count + CASE WHEN id = p_class THEN 1 ELSE -1 END
    WHERE studio_id = p_studio AND id IN (booking.class_id, p_class);
    UPDATE bookings SET class_id = p_class, location_id = target.location_id, version = version + 1,
        updated_at = clock_timestamp()
    WHERE studio_id = p_studio AND id = p_booking;
    INSERT INTO reschedules (studio_id, id, booking_id, from_class_id, created_at, credits_charged, late_cancel,
        free_cancel_until, late_fee_status, credits_forfeited, credits_restored)
    VALUES (p_studio, gen_random_uuid(), p_booking, booking.class_id, clock_timestamp(), 0, false, clock_timestamp(),
        'none', 0, 0);
    PERFORM bench_tell(p_studio, p_key, p_booking, 'booking.rescheduled');
END $$;
