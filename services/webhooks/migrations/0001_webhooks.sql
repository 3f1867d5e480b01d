-- The event log. `event_counters` is locked by whoever stores events of a studio: that is what makes `sequence`
-- gap-free and keeps 7 invisible until 6 is visible.
CREATE TABLE event_counters (
    studio_id     uuid PRIMARY KEY,
    last_sequence bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- A table for each week, by the event's own `created_at`: functions/log_weeks.sql. docs/decisions/0014 says why.
CREATE TABLE events (
    studio_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    sequence    bigint      NOT NULL,
    type        text        NOT NULL,
    location_id uuid,
    client_id   text,       -- webhook.test only: nobody else sees it
    created_at  timestamptz NOT NULL,
    body        bytea       NOT NULL,
    traceparent text,       -- of the call that caused it, so that its deliveries belong to the same trace
    moved_to    uuid,       -- the other location of a resource that has moved; null if it has none
    request_id  text,       -- of the call that caused it
    PRIMARY KEY (studio_id, id, created_at)
) PARTITION BY RANGE (created_at);
CREATE UNIQUE INDEX events_in_order ON events (studio_id, sequence, created_at);
CREATE INDEX events_by_type ON events (studio_id, type, sequence);
CREATE INDEX events_by_location ON events (studio_id, location_id, type, sequence)
    WHERE location_id IS NOT NULL;
CREATE INDEX events_by_request ON events (studio_id, request_id, sequence) WHERE request_id IS NOT NULL;
-- A list of events scans the index by type once for each type that its key may see. While a log has events of one
-- type only (after a first import, say), Postgres expects every row to be of the type that it looks for, and
-- walks the whole log by sequence in search of the others: minutes for a million events. This says that a type is rare.
ALTER TABLE events ALTER COLUMN type SET (n_distinct = 50);

-- `key_id`: the key that made the endpoint; `url_key_id`: the one that set its current URL. A leaked key's endpoints
-- can be found and disabled.
CREATE TABLE endpoints (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    client_id       text        NOT NULL,
    url             text        NOT NULL,
    description     text        NOT NULL DEFAULT '',
    event_types     text[]      NOT NULL DEFAULT '{}',
    scopes          text[]      NOT NULL,
    location_ids    uuid[],
    status          text        NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
    disabled_reason text,
    fifo            boolean     NOT NULL DEFAULT false,
    rate_limit      float8,
    key_id          text,
    url_key_id      text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at      timestamptz,
    PRIMARY KEY (studio_id, id)
);
CREATE INDEX endpoints_in_order ON endpoints (studio_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_deleted ON endpoints (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE secrets (
    studio_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    endpoint_id uuid        NOT NULL,
    sealed      bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at  timestamptz,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id) ON DELETE CASCADE
);
CREATE INDEX secrets_of_endpoint ON secrets (studio_id, endpoint_id);

-- One lane per endpoint: a dispatcher leases the whole lane, so that an endpoint only ever delays itself.
-- `wakes` grows with everything that gives the lane work: if it has grown since the lane was loaded, the lane is due
-- again as soon as it is released. `changes` grows with everything that makes what was loaded stale: another URL,
-- other secrets, a status, erased bodies. `last_failed_at`: five days of failures need failures in between.
CREATE TABLE lanes (
    endpoint_id    uuid        PRIMARY KEY,
    studio_id      uuid        NOT NULL,
    last_sequence  bigint      NOT NULL DEFAULT 0,
    wakes          bigint      NOT NULL DEFAULT 0,
    changes        bigint      NOT NULL DEFAULT 0,
    due_at         timestamptz NOT NULL DEFAULT 'infinity',
    token          uuid,
    leased_until   timestamptz,
    failures       integer     NOT NULL DEFAULT 0,
    pauses         integer     NOT NULL DEFAULT 0,
    paused_until   timestamptz,
    failing_since  timestamptz,
    last_failed_at timestamptz,
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);
CREATE INDEX lanes_due ON lanes (due_at) WHERE due_at < 'infinity';
CREATE INDEX lanes_failing ON lanes (failing_since) WHERE failing_since IS NOT NULL;

-- Attempts of each endpoint by the hour and by how long they took (shared/percentiles.py), for a day. Dispatchers add what
-- they have counted in memory every few seconds.
CREATE TABLE attempt_hours (
    studio_id   uuid        NOT NULL,
    endpoint_id uuid        NOT NULL,
    hour        timestamptz NOT NULL,
    bucket      smallint    NOT NULL,
    succeeded   integer     NOT NULL,
    failed      integer     NOT NULL,
    PRIMARY KEY (studio_id, endpoint_id, hour, bucket),
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id) ON DELETE CASCADE
);
CREATE INDEX attempt_hours_by_age ON attempt_hours (hour);

-- In the week of their event, with which they go. `step` is the place in the retry schedule (0: a first attempt); a
-- manual retry sets it back to 0. The id is made from the event's and the endpoint's (`delivery_id` in shared/wire.py): one delivery for
-- both, and no index for that. `erased`: the event's person was erased, so no response to it is stored any more, not
-- even of an attempt in flight. No foreign key to the endpoint, which would be looked up for each of them: only an
-- endpoint with a lane gets one, and it is deleted after them.
CREATE TABLE deliveries (
    studio_id        uuid        NOT NULL,
    id               uuid        NOT NULL,
    endpoint_id      uuid        NOT NULL,
    event_id         uuid        NOT NULL,
    event_type       text        NOT NULL,
    event_created_at timestamptz NOT NULL,
    sequence         bigint      NOT NULL,
    status           text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'dead')),
    step             smallint    NOT NULL DEFAULT 0,
    attempt_count    integer     NOT NULL DEFAULT 0,
    next_attempt_at  timestamptz,
    created_at       timestamptz NOT NULL,
    attempts         jsonb       NOT NULL DEFAULT '[]',
    erased           boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (studio_id, id, event_created_at)
) PARTITION BY RANGE (event_created_at);
CREATE UNIQUE INDEX deliveries_in_order ON deliveries (endpoint_id, sequence, event_created_at);
CREATE INDEX deliveries_first ON deliveries (endpoint_id, sequence) WHERE status = 'pending' AND step = 0;
CREATE INDEX deliveries_retry ON deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending' AND step > 0;
CREATE INDEX deliveries_dead ON deliveries (endpoint_id, sequence) WHERE status = 'dead';

-- A recovery is a job of its own: durable, resumed where it stood, and shaped by what the endpoint still has open.
-- Recoveries take turns by `stepped_at`.
CREATE TABLE recoveries (
    studio_id      uuid        NOT NULL,
    id             uuid        NOT NULL,
    endpoint_id    uuid        NOT NULL,
    since          timestamptz NOT NULL,
    after_sequence bigint      NOT NULL,
    until_sequence bigint      NOT NULL,
    offered        integer     NOT NULL DEFAULT 0,
    status         text        NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done')),
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    stepped_at     timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id) ON DELETE CASCADE
);
CREATE INDEX recoveries_running ON recoveries (stepped_at, created_at) WHERE status = 'running';
CREATE INDEX recoveries_of_endpoint ON recoveries (studio_id, endpoint_id);

-- An event that more endpoints want than one transaction makes deliveries for: those that are to get one still. It is
-- finished before another event of the bus is logged for the studio, whoever logs it.
CREATE TABLE fan_outs (
    studio_id        uuid        PRIMARY KEY,
    event_id         uuid        NOT NULL,
    event_created_at timestamptz NOT NULL,
    endpoint_ids     uuid[]      NOT NULL
);

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

-- Events that a consumer could not handle: of the event log itself, and of the services to which it forwards.
CREATE TABLE parked_events (
    queue       text        NOT NULL,
    event_id    text        NOT NULL,
    type        text        NOT NULL,
    reason      text        NOT NULL,
    body        bytea       NOT NULL,
    traceparent text,
    parked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (queue, event_id)
);
