-- Who was erased, for as long as the log keeps events: an event about them that is logged later is made anonymous. A row
-- holds ids only. Events up to `searched_until` were searched for the person; `sendable`: a dispatcher may still have
-- a body in memory from before it was rewritten.
CREATE TABLE erased_people (
    studio_id      uuid        NOT NULL,
    person_id      uuid        NOT NULL,
    erased_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    searched_until bigint      NOT NULL DEFAULT 0,
    sendable       boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (studio_id, person_id)
);
SET LOCAL lock_timeout = '300ms';
-- old code survives: no release has used the column.
ALTER TABLE events DROP COLUMN version;
