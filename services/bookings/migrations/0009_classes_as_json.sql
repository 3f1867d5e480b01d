-- A class as partners see it, kept beside its row as JSON text. The two counts that bookings change are left out:
-- a page puts them between `json_head` and `json_tail`, and so reads one text for each row instead of 16 values.
-- wire/classes.py says what a class looks like, and a test holds both together. To show another field, add new
-- columns under new names: changing the functions would leave the rows that are there as they are.

-- The forms that shared/wire.py writes. STABLE, as to_json and to_char are.
CREATE FUNCTION json_text(value text) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(to_json(value)::text, 'null');

CREATE FUNCTION json_id(value uuid) RETURNS text LANGUAGE sql STABLE
RETURN coalesce('"' || value || '"', 'null');

CREATE FUNCTION json_instant(value timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(
    value AT TIME ZONE 'UTC',
    CASE WHEN extract(microseconds FROM value AT TIME ZONE 'UTC') % 1000000 = 0
        THEN '"\""YYYY-MM-DD"T"HH24:MI:SS"Z\""'
        ELSE '"\""YYYY-MM-DD"T"HH24:MI:SS.US"Z\""' END);

-- IMMUTABLE is true, though what they call is only STABLE: no setting changes the JSON of a text, and these
-- patterns hold no name of a day or month that a locale would write. They name the schema, so that a restore can
-- compute the columns with an empty search_path; and plpgsql, which took less than half of the time of sql.
CREATE FUNCTION class_json_head(
    id uuid, title text, description text, class_type_id uuid, location_id uuid, room_id uuid,
    instructor_id uuid, start_time timestamptz, end_time timestamptz, capacity integer)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN '{"id":' || bookings.json_id(id) || ',"object":"class","title":' || bookings.json_text(title)
        || ',"description":' || bookings.json_text(description)
        || ',"class_type_id":' || bookings.json_id(class_type_id)
        || ',"location_id":' || bookings.json_id(location_id) || ',"room_id":' || bookings.json_id(room_id)
        || ',"instructor_id":' || bookings.json_id(instructor_id)
        || ',"start_time":' || bookings.json_instant(start_time)
        || ',"end_time":' || bookings.json_instant(end_time)
        || ',"capacity":' || capacity || ',"booked_count":';
END $$;

CREATE FUNCTION class_json_tail(
    allow_waitlist boolean, spot_selection_mode text, status text, visible boolean)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN ',"allow_waitlist":' || allow_waitlist
        || ',"spot_selection_mode":' || bookings.json_text(spot_selection_mode)
        || ',"status":' || bookings.json_text(status) || ',"visible":' || visible || '}';
END $$;

-- Postgres computes them again only when one of the named columns is set: never for a booking. Adding them writes
-- the table anew, once, and nobody reads or books a class meanwhile.
ALTER TABLE classes
    ADD COLUMN json_head text GENERATED ALWAYS AS (class_json_head(
        id, title, description, class_type_id, location_id, room_id, instructor_id, start_time, end_time,
        capacity)) STORED,
    ADD COLUMN json_tail text GENERATED ALWAYS AS (class_json_tail(
        allow_waitlist, spot_selection_mode, status, visible)) STORED;
