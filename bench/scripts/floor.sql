-- The floor under a booking: the same claim, locks, checks and rows, decided by the database in one statement.
CREATE FUNCTION bookings.bench_book(p_studio uuid, p_class uuid, p_member uuid, p_key text) RETURNS uuid
LANGUAGE plpgsql SET search_path = bookings AS $$
DECLARE
    booking uuid := gen_random_uuid();
    class   classes;
BEGIN
    IF NOT pg_try_advisory_xact_lock(key_lock(p_studio, 'bench', p_key)) THEN
        RAISE EXCEPTION 'the key is busy';
    END IF;
    PERFORM 1 FROM idempotency_keys WHERE studio_id = p_studio AND client_id = 'bench' AND key = p_key;
    IF FOUND THEN
        RAISE EXCEPTION 'the key is used';
    END IF;
    SELECT * INTO class FROM classes WHERE studio_id = p_studio AND id = p_class FOR NO KEY UPDATE;
    PERFORM 1 FROM members WHERE studio_id = p_studio AND id = p_member AND NOT suspended FOR NO KEY UPDATE;
    IF NOT FOUND OR class.booked_count >= class.capacity OR class.status <> 'scheduled' THEN
        RAISE EXCEPTION 'no seat';
    END IF;
    PERFORM 1 FROM bookings WHERE studio_id = p_studio AND class_id = p_class AND member_id = p_member
        AND status IN ('confirmed', 'checked_in', 'waitlisted');
    IF FOUND THEN
        RAISE EXCEPTION 'booked already';
    END IF;
    UPDATE classes SET version = version + 1, booked_count = booked_count + 1
    WHERE studio_id = p_studio AND id = p_class;
    INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source, created_at,
                          updated_at)
    VALUES (p_studio, booking, p_class, p_member, class.location_id, 'confirmed', 'bench', clock_timestamp(),
            clock_timestamp());
    INSERT INTO outbox (partition, event_id, studio_id, type, envelope)
    VALUES (outbox_partition(p_studio), gen_random_uuid(), p_studio, 'booking.created',
            convert_to(repeat('e', 800), 'UTF8'));
    INSERT INTO idempotency_keys
        (studio_id, client_id, key, route, fingerprint, http_status, body, resource_id, expires_at)
    VALUES (p_studio, 'bench', p_key, 'POST /bookings', '\x00', 201, convert_to(repeat('b', 400), 'UTF8'), booking,
            clock_timestamp() + interval '24 hours');
    RETURN booking;
END $$;
