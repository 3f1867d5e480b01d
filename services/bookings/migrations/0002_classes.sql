-- The class row is the lock of everything that happens in the class; its counters are kept under that lock.
-- `promotion_due`: an import raised the capacity, and who waits has not moved up yet.
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
    allow_waitlist      boolean     NOT NULL,
    waitlist_capacity   integer     CHECK (waitlist_capacity >= 0),
    credit_cost         integer     NOT NULL DEFAULT 0 CHECK (credit_cost >= 0),
    spot_selection_mode text        CHECK (spot_selection_mode IN ('none', 'optional', 'required')),
    status              text        NOT NULL CHECK (status IN ('scheduled', 'completed', 'cancelled')),
    visible             boolean     NOT NULL,
    promotion_due       boolean     NOT NULL DEFAULT false,
    version             integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT classes_end_after_start CHECK (end_time > start_time),
    CONSTRAINT classes_sane_start CHECK (start_time >= '1970-01-01Z' AND end_time < '3000-01-01Z')
) WITH (fillfactor = 80);
CREATE INDEX classes_by_start ON classes (studio_id, start_time, id);
CREATE INDEX classes_by_status ON classes (studio_id, status, start_time, id);
CREATE INDEX classes_by_location ON classes (studio_id, location_id, status, start_time, id);
CREATE INDEX classes_with_waitlist ON classes (start_time) WHERE waitlist_count > 0;

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
