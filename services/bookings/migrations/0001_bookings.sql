-- Keys are (studio_id, id), foreign keys included: no row can belong to another studio's.
-- `version` grows with each change. Events carry it, so that outdated ones can be ignored.

-- Copies of what other services own. An import sends a studio, location or product line to every service that needs
-- it. A studio's time zone gives the country of phone numbers that are written without their country code. The zone of a
-- location, or the studio's, tells on which day a class starts (functions/class_zone.sql).
CREATE TABLE studios (
    id                  uuid PRIMARY KEY,
    timezone            text,
    late_window_minutes integer       NOT NULL DEFAULT 720 CHECK (late_window_minutes BETWEEN 0 AND 525600),
    late_fee_amount     numeric(14, 4) CHECK (late_fee_amount >= 0),
    late_fee_currency   text,
    forfeit_credit      boolean       NOT NULL DEFAULT false,
    CONSTRAINT studios_fee_has_currency CHECK (late_fee_currency IS NOT NULL OR coalesce(late_fee_amount, 0) = 0)
);

CREATE TABLE locations (
    studio_id uuid NOT NULL,
    id        uuid NOT NULL,
    timezone  text,
    PRIMARY KEY (studio_id, id)
);

CREATE TABLE products (
    studio_id       uuid NOT NULL,
    id              uuid NOT NULL,
    key             text NOT NULL,
    product_type    text NOT NULL,
    credits_granted integer CHECK (credits_granted >= 0),
    PRIMARY KEY (studio_id, id)
);

-- A class as partners see it, kept in its row as JSON text. The counts that bookings change are left out: a page
-- puts them between `json_head` and `json_tail`, and reads one text for each row instead of 16 values. wire/classes.py
-- defines what a class looks like; a test keeps both in step. Do not change these functions: stored rows would keep the
-- old JSON. To show another field, add new columns and new functions.

-- The formats that shared/wire.py writes. STABLE, because to_json and to_char are.
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

-- IMMUTABLE is correct although the functions they call are only STABLE: no setting changes the JSON of a text, and
-- these patterns contain no day or month name that depends on the locale. The schema is spelled out so that a restore
-- can compute the columns with an empty search_path. plpgsql took less than half the time of sql.
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

-- The time on the clock at the class's place, without an offset. Stored, so that lists, single reads and `on=` agree;
-- after an update of the server's time zones, `UPDATE classes SET timezone = timezone` computes it again. A name that this
-- server does not know counts as UTC: otherwise a dump could not be restored here. Four names mean something else to
-- Postgres, which takes them for abbreviations without a summer time.
CREATE FUNCTION local_time_of(moment timestamptz, timezone text) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN moment AT TIME ZONE CASE timezone WHEN 'CET' THEN 'Europe/Brussels' WHEN 'MET' THEN 'Europe/Brussels'
        WHEN 'EET' THEN 'Europe/Athens' WHEN 'WET' THEN 'Europe/Lisbon' ELSE timezone END;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN moment AT TIME ZONE 'UTC';
END $$;

CREATE FUNCTION local_text(moment timestamp) RETURNS text LANGUAGE sql STABLE
RETURN to_char(moment, CASE WHEN extract(microseconds FROM moment) % 1000000 = 0
    THEN 'YYYY-MM-DD"T"HH24:MI:SS' ELSE 'YYYY-MM-DD"T"HH24:MI:SS.US' END);

CREATE FUNCTION class_json_tail(
    allow_waitlist boolean, spot_selection_mode text, status text, visible boolean, timezone text,
    start_time timestamptz)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN ',"allow_waitlist":' || allow_waitlist
        || ',"spot_selection_mode":' || bookings.json_text(spot_selection_mode)
        || ',"status":' || bookings.json_text(status) || ',"visible":' || visible
        || ',"timezone":' || bookings.json_text(timezone)
        || ',"start_local":"' || bookings.local_text(bookings.local_time_of(start_time, timezone)) || '"}';
END $$;

-- The class row is the lock of everything that happens in the class; its counters are kept under that lock. Holds end by
-- the clock: `held_count` also counts those that have run out and that nobody has turned `expired` yet. Whoever shows or
-- decides leaves those out (functions/holds.sql).
-- Postgres computes the two JSON columns only when one of their columns is set: never for a booking.
CREATE TABLE classes (
    studio_id           uuid        NOT NULL,
    id                  uuid        NOT NULL,
    title               text        NOT NULL,
    description         text,
    class_type_id       uuid,
    location_id         uuid,
    room_id             uuid,
    instructor_id       uuid,
    start_time          timestamptz NOT NULL,
    end_time            timestamptz NOT NULL,
    capacity            integer     NOT NULL CHECK (capacity >= 0),
    booked_count        integer     NOT NULL DEFAULT 0 CHECK (booked_count >= 0),
    waitlist_count      integer     NOT NULL DEFAULT 0 CHECK (waitlist_count >= 0),
    held_count          integer     NOT NULL DEFAULT 0 CHECK (held_count >= 0),
    allow_waitlist      boolean     NOT NULL,
    waitlist_capacity   integer     CHECK (waitlist_capacity >= 0),
    credit_cost         integer     NOT NULL DEFAULT 0 CHECK (credit_cost >= 0),
    spot_selection_mode text        CHECK (spot_selection_mode IN ('none', 'optional', 'required')),
    status              text        NOT NULL CHECK (status IN ('scheduled', 'completed', 'cancelled')),
    visible             boolean     NOT NULL,
    timezone            text        NOT NULL DEFAULT 'UTC',
    start_local         timestamp   GENERATED ALWAYS AS (local_time_of(start_time, timezone)) STORED,
    version             integer     NOT NULL DEFAULT 1,
    json_head           text        GENERATED ALWAYS AS (class_json_head(
        id, title, description, class_type_id, location_id, room_id, instructor_id, start_time, end_time,
        capacity)) STORED,
    json_tail           text        GENERATED ALWAYS AS (class_json_tail(
        allow_waitlist, spot_selection_mode, status, visible, timezone, start_time)) STORED,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT classes_end_after_start CHECK (end_time > start_time),
    CONSTRAINT classes_sane_start CHECK (start_time >= '1970-01-01Z' AND end_time < '3000-01-01Z')
) WITH (fillfactor = 80);
CREATE INDEX classes_by_start ON classes (studio_id, start_time, id);
CREATE INDEX classes_by_status ON classes (studio_id, status, start_time, id);
CREATE INDEX classes_by_location ON classes (studio_id, location_id, status, start_time, id);
-- No index names `booked_count`, also not in a condition: a booking updates its class in place (a HOT update).
CREATE INDEX classes_with_waitlist ON classes (start_time) WHERE waitlist_count > 0;
-- One index for each combination of the filters instructor_id, class_type_id and room_id. Location and status come
-- next, so that a page is one short scan per location and status (store/keyset_pages.py), then the list's order.
-- Partial: a class without an instructor, a type or a room costs nothing there.
CREATE INDEX classes_by_instructor ON classes (studio_id, instructor_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL;
CREATE INDEX classes_by_type ON classes (studio_id, class_type_id, location_id, status, start_time, id)
    WHERE class_type_id IS NOT NULL;
CREATE INDEX classes_by_room ON classes (studio_id, room_id, location_id, status, start_time, id)
    WHERE room_id IS NOT NULL;
CREATE INDEX classes_by_instructor_and_type
    ON classes (studio_id, instructor_id, class_type_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL AND class_type_id IS NOT NULL;
CREATE INDEX classes_by_instructor_and_room
    ON classes (studio_id, instructor_id, room_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL AND room_id IS NOT NULL;
CREATE INDEX classes_by_type_and_room
    ON classes (studio_id, class_type_id, room_id, location_id, status, start_time, id)
    WHERE class_type_id IS NOT NULL AND room_id IS NOT NULL;
CREATE INDEX classes_by_instructor_type_and_room
    ON classes (studio_id, instructor_id, class_type_id, room_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL AND class_type_id IS NOT NULL AND room_id IS NOT NULL;

CREATE TABLE class_spots (
    studio_id  uuid    NOT NULL,
    id         uuid    NOT NULL,
    class_id   uuid    NOT NULL,
    label      text    NOT NULL,
    sort_order integer NOT NULL,
    PRIMARY KEY (studio_id, id),
    UNIQUE (studio_id, class_id, id),
    FOREIGN KEY (studio_id, class_id) REFERENCES classes (studio_id, id)
);
CREATE INDEX class_spots_by_class ON class_spots (studio_id, class_id, sort_order, id);

-- The member row is the lock of the member's credits and memberships.
CREATE TABLE members (
    studio_id             uuid        NOT NULL,
    id                    uuid        NOT NULL,
    name                  text        NOT NULL,
    first_name            text        NOT NULL,
    last_name             text        NOT NULL,
    email                 text,
    phone                 text,
    role                  text        NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'user', 'lead')),
    membership_type       text,
    membership_start_date timestamptz,
    membership_end_date   timestamptz,
    suspended             boolean     NOT NULL DEFAULT false,
    credits               bigint      NOT NULL DEFAULT 0 CONSTRAINT members_credits_not_negative CHECK (credits >= 0),
    created_at            timestamptz NOT NULL,
    version               integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id)
) WITH (fillfactor = 90);
CREATE INDEX members_by_creation ON members (studio_id, created_at, id);
CREATE UNIQUE INDEX members_one_per_email ON members (studio_id, email);
-- The desk's search, by the beginning of what is typed.
CREATE INDEX members_by_name ON members (studio_id, lower(name) text_pattern_ops);
CREATE INDEX members_by_last_name ON members (studio_id, lower(last_name) text_pattern_ops);
CREATE INDEX members_by_email ON members (studio_id, email text_pattern_ops) WHERE email IS NOT NULL;
CREATE INDEX members_by_phone ON members (studio_id, regexp_replace(phone, '[^0-9]', '', 'g') text_pattern_ops)
    WHERE phone IS NOT NULL;

-- `due_at` is set by a trigger (functions/membership_due.sql).
CREATE TABLE memberships (
    studio_id     uuid        NOT NULL,
    id            uuid        NOT NULL,
    member_id     uuid        NOT NULL,
    product_id    uuid        NOT NULL,
    status        text        NOT NULL
        CHECK (status IN ('pending', 'active', 'paused', 'past_due', 'cancelled', 'expired')),
    auto_renew    boolean     NOT NULL,
    state_version integer     NOT NULL DEFAULT 1 CHECK (state_version >= 0),
    starts_at     timestamptz,
    ends_at       timestamptz,
    pause         jsonb,
    cancellation  jsonb,
    created_at    timestamptz NOT NULL,
    due_at        timestamptz,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id)
);
CREATE INDEX memberships_by_member ON memberships (studio_id, member_id, created_at, id);
CREATE INDEX memberships_due ON memberships (due_at) WHERE due_at IS NOT NULL;

-- `credits_granted` is null until the purchase has granted: what was granted once is never granted again.
CREATE TABLE purchases (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    product_id      uuid,
    product_key     text        NOT NULL,
    product_type    text        NOT NULL,
    quantity        integer     NOT NULL CHECK (quantity >= 0),
    amount_total    numeric(14, 4),
    currency        text,
    refunded_amount numeric(14, 4),
    status          text CHECK (
        status IN ('pending', 'completed', 'failed', 'cancelled', 'partially_refunded', 'refunded')),
    location_id     uuid,
    credits_granted bigint CHECK (credits_granted >= 0),
    created_at      timestamptz NOT NULL,
    version         integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id)
);
CREATE INDEX purchases_by_creation ON purchases (studio_id, created_at, id);
CREATE INDEX purchases_by_member ON purchases (studio_id, member_id, created_at, id);
CREATE INDEX purchases_by_location ON purchases (studio_id, location_id, created_at, id);
CREATE INDEX purchases_to_grant ON purchases (studio_id, product_id)
    WHERE status = 'completed' AND credits_granted IS NULL;

-- `location_id` is the class's, carried along so that a location-limited list is one index scan per location.
-- A booking that began as a hold has `held_until`, the end of the hold, and `held_by`, the client that made it, for good.
-- `only_held`: it is a hold, or was never more than that. Lists without a status leave those out.
CREATE TABLE bookings (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    class_id        uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    location_id     uuid,
    status          text        NOT NULL CHECK (
        status IN ('held', 'confirmed', 'waitlisted', 'checked_in', 'no_show', 'cancelled', 'expired')),
    booking_source  text,
    class_spot_id   uuid,
    credits_charged integer     NOT NULL DEFAULT 0 CHECK (credits_charged >= 0),
    promoted_at     timestamptz,
    held_until      timestamptz,
    held_by         text,
    only_held       boolean     NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    version         integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT bookings_hold_has_end CHECK (status <> 'held' OR only_held AND held_until IS NOT NULL),
    FOREIGN KEY (studio_id, class_id) REFERENCES classes (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id),
    FOREIGN KEY (studio_id, class_id, class_spot_id) REFERENCES class_spots (studio_id, class_id, id),
    CONSTRAINT bookings_one_per_spot EXCLUDE USING btree
        (studio_id WITH =, class_id WITH =, class_spot_id WITH =)
        WHERE (status IN ('held', 'confirmed', 'checked_in') AND class_spot_id IS NOT NULL) DEFERRABLE
);
CREATE UNIQUE INDEX bookings_one_live_per_member ON bookings (studio_id, class_id, member_id)
    WHERE status IN ('held', 'confirmed', 'checked_in', 'waitlisted');
CREATE INDEX bookings_by_creation ON bookings (studio_id, created_at, id) WHERE NOT only_held;
CREATE INDEX bookings_by_status ON bookings (studio_id, status, created_at, id);
CREATE INDEX bookings_by_location ON bookings (studio_id, location_id, status, only_held, created_at, id);
CREATE INDEX bookings_held ON bookings (studio_id, class_id, held_until) WHERE status = 'held';
CREATE INDEX bookings_holds_due ON bookings (held_until) WHERE status = 'held';
CREATE INDEX bookings_by_class ON bookings (studio_id, class_id, created_at, id);
CREATE INDEX bookings_by_member ON bookings (studio_id, member_id, created_at, id);

-- Every waiting entry has exactly one waitlisted booking. Positions are dense; deferrable means checked at the end
-- of the statement that shifts them (a spot changes hands in one statement, too). `imported_as` is the position
-- that an import gave: entries of one queue may come in different batches, and in any order.
CREATE TABLE waitlist (
    studio_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    class_id    uuid        NOT NULL,
    member_id   uuid        NOT NULL,
    booking_id  uuid,
    location_id uuid,
    position    integer     NOT NULL CHECK (position >= 1),
    status      text        NOT NULL CHECK (
        status IN ('waiting', 'converted', 'cancelled', 'expired', 'skipped')),
    imported_as integer,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    version     integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, class_id) REFERENCES classes (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id),
    FOREIGN KEY (studio_id, booking_id) REFERENCES bookings (studio_id, id),
    CONSTRAINT waitlist_one_per_position EXCLUDE USING btree
        (studio_id WITH =, class_id WITH =, position WITH =) WHERE (status = 'waiting') DEFERRABLE
);
CREATE UNIQUE INDEX waitlist_one_waiting_per_member ON waitlist (studio_id, class_id, member_id)
    WHERE status = 'waiting';
CREATE INDEX waitlist_by_booking ON waitlist (studio_id, booking_id);
CREATE INDEX waitlist_by_creation ON waitlist (studio_id, created_at, id);
CREATE INDEX waitlist_by_status ON waitlist (studio_id, status, created_at, id);
CREATE INDEX waitlist_by_location ON waitlist (studio_id, location_id, status, created_at, id);
CREATE INDEX waitlist_by_class ON waitlist (studio_id, class_id, created_at, id);
CREATE INDEX waitlist_by_member ON waitlist (studio_id, member_id, created_at, id);

CREATE TABLE cancellations (
    studio_id         uuid        NOT NULL,
    id                uuid        NOT NULL,
    booking_id        uuid        NOT NULL,
    cancelled_at      timestamptz NOT NULL,
    reason            text,
    late_cancel       boolean     NOT NULL,
    free_cancel_until timestamptz NOT NULL,
    late_fee_amount   numeric(14, 4),
    late_fee_currency text,
    late_fee_status   text        NOT NULL CHECK (late_fee_status IN ('none', 'assessed', 'waived')),
    credits_forfeited integer     NOT NULL CHECK (credits_forfeited >= 0),
    credits_restored  integer     NOT NULL CHECK (credits_restored >= 0),
    PRIMARY KEY (studio_id, id),
    CONSTRAINT cancellations_one_per_booking UNIQUE (studio_id, booking_id),
    FOREIGN KEY (studio_id, booking_id) REFERENCES bookings (studio_id, id)
);
CREATE INDEX cancellations_by_time ON cancellations (studio_id, cancelled_at);

-- One for each time that a booking was moved: the class that it left and what leaving cost. `credits_charged` is the
-- price of the new seat.
CREATE TABLE reschedules (
    studio_id         uuid        NOT NULL,
    id                uuid        NOT NULL,
    booking_id        uuid        NOT NULL,
    from_class_id     uuid        NOT NULL,
    created_at        timestamptz NOT NULL,
    credits_charged   integer     NOT NULL CHECK (credits_charged >= 0),
    late_cancel       boolean     NOT NULL,
    free_cancel_until timestamptz NOT NULL,
    late_fee_amount   numeric(14, 4),
    late_fee_currency text,
    late_fee_status   text        NOT NULL CHECK (late_fee_status IN ('none', 'assessed', 'waived')),
    credits_forfeited integer     NOT NULL CHECK (credits_forfeited >= 0),
    credits_restored  integer     NOT NULL CHECK (credits_restored >= 0),
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, booking_id) REFERENCES bookings (studio_id, id),
    FOREIGN KEY (studio_id, from_class_id) REFERENCES classes (studio_id, id)
);
CREATE INDEX reschedules_by_booking ON reschedules (studio_id, booking_id, created_at, id);
