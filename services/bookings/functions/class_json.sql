-- The JSON that each class row stores (columns json_head and json_tail, migration 0009). wire/classes.py defines what
-- a class looks like; a test keeps both in step. Do not change these: stored rows would keep the old JSON. To show
-- another field, add new columns and new functions.

-- The formats that shared/wire.py writes. STABLE, because to_json and to_char are.
CREATE OR REPLACE FUNCTION json_text(value text) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(to_json(value)::text, 'null');

CREATE OR REPLACE FUNCTION json_id(value uuid) RETURNS text LANGUAGE sql STABLE
RETURN coalesce('"' || value || '"', 'null');

CREATE OR REPLACE FUNCTION json_instant(value timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(
    value AT TIME ZONE 'UTC',
    CASE WHEN extract(microseconds FROM value AT TIME ZONE 'UTC') % 1000000 = 0
        THEN '"\""YYYY-MM-DD"T"HH24:MI:SS"Z\""'
        ELSE '"\""YYYY-MM-DD"T"HH24:MI:SS.US"Z\""' END);

-- IMMUTABLE is correct although the functions they call are only STABLE: no setting changes the JSON of a text, and
-- these patterns contain no day or month name that depends on the locale. The schema is spelled out so that a restore
-- can compute the columns with an empty search_path. plpgsql took less than half the time of sql.
CREATE OR REPLACE FUNCTION class_json_head(
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

CREATE OR REPLACE FUNCTION class_json_tail(
    allow_waitlist boolean, spot_selection_mode text, status text, visible boolean)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN ',"allow_waitlist":' || allow_waitlist
        || ',"spot_selection_mode":' || bookings.json_text(spot_selection_mode)
        || ',"status":' || bookings.json_text(status) || ',"visible":' || visible || '}';
END $$;
