-- `location_id` is the class's, carried along so that a location-limited list is one index scan per location.
-- `placeholder` rows stand in for the other half of an imported waitlist pair until its own line comes.
CREATE TABLE bookings (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    class_id        uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    location_id     uuid,
    status          text        NOT NULL CHECK (
        status IN ('confirmed', 'waitlisted', 'checked_in', 'no_show', 'cancelled', 'expired')),
    booking_source  text,
    class_spot_id   uuid,
    credits_charged integer     NOT NULL DEFAULT 0 CHECK (credits_charged >= 0),
    promoted_at     timestamptz,
    placeholder     boolean     NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    version         integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, class_id) REFERENCES classes (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id),
    FOREIGN KEY (studio_id, class_id, class_spot_id) REFERENCES class_spots (studio_id, class_id, id),
    CONSTRAINT bookings_placeholder_waits CHECK (NOT placeholder OR status = 'waitlisted'),
    CONSTRAINT bookings_one_per_spot EXCLUDE USING btree
        (studio_id WITH =, class_id WITH =, class_spot_id WITH =)
        WHERE (status IN ('confirmed', 'checked_in') AND class_spot_id IS NOT NULL) DEFERRABLE
);
CREATE UNIQUE INDEX bookings_one_live_per_member ON bookings (studio_id, class_id, member_id)
    WHERE status IN ('confirmed', 'checked_in', 'waitlisted');
CREATE INDEX bookings_by_creation ON bookings (studio_id, created_at, id);
CREATE INDEX bookings_by_status ON bookings (studio_id, status, created_at, id);
CREATE INDEX bookings_by_location ON bookings (studio_id, location_id, status, created_at, id);
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
    placeholder boolean     NOT NULL DEFAULT false,
    imported_as integer,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    version     integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, class_id) REFERENCES classes (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id),
    FOREIGN KEY (studio_id, booking_id) REFERENCES bookings (studio_id, id),
    CONSTRAINT waitlist_placeholder_waits CHECK (NOT placeholder OR status = 'waiting'),
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
