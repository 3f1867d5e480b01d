-- The event log. `event_counters` is locked by whoever stores events of a studio: that is what makes `sequence`
-- gap-free and keeps 7 invisible until 6 is visible.
CREATE TABLE event_counters (
    studio_id     uuid PRIMARY KEY,
    last_sequence bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE events (
    studio_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    sequence    bigint      NOT NULL,
    type        text        NOT NULL,
    location_id uuid,
    client_id   text,       -- webhook.test only: nobody else sees it
    created_at  timestamptz NOT NULL,
    body        bytea       NOT NULL,
    PRIMARY KEY (studio_id, id),
    UNIQUE (studio_id, sequence)
);
CREATE INDEX events_by_type ON events (studio_id, type, sequence);
CREATE INDEX events_by_location ON events (studio_id, location_id, type, sequence)
    WHERE location_id IS NOT NULL;
CREATE INDEX events_by_age ON events (studio_id, created_at, sequence);

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
-- `wakes` grows with everything that gives the lane work; a lane is let go only if it has not grown meanwhile.
CREATE TABLE lanes (
    endpoint_id   uuid        PRIMARY KEY,
    studio_id     uuid        NOT NULL,
    last_sequence bigint      NOT NULL DEFAULT 0,
    wakes         bigint      NOT NULL DEFAULT 0,
    due_at        timestamptz NOT NULL DEFAULT 'infinity',
    token         uuid,
    leased_until  timestamptz,
    failures      integer     NOT NULL DEFAULT 0,
    pauses        integer     NOT NULL DEFAULT 0,
    paused_until  timestamptz,
    failing_since timestamptz,
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);
CREATE INDEX lanes_due ON lanes (due_at) WHERE due_at < 'infinity';

-- `step` is the place in the retry schedule (0: a first attempt); a manual retry sets it back to 0.
CREATE TABLE deliveries (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    endpoint_id     uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    event_type      text        NOT NULL,
    sequence        bigint      NOT NULL,
    status          text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'dead')),
    step            smallint    NOT NULL DEFAULT 0,
    attempt_count   integer     NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    created_at      timestamptz NOT NULL,
    attempts        jsonb       NOT NULL DEFAULT '[]',
    PRIMARY KEY (studio_id, id),
    UNIQUE (endpoint_id, sequence),
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id),
    FOREIGN KEY (studio_id, event_id) REFERENCES events (studio_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX deliveries_once ON deliveries (studio_id, event_id, endpoint_id);
CREATE INDEX deliveries_first ON deliveries (endpoint_id, sequence) WHERE status = 'pending' AND step = 0;
CREATE INDEX deliveries_retry ON deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending' AND step > 0;
CREATE INDEX deliveries_dead ON deliveries (endpoint_id, sequence) WHERE status = 'dead';

-- A recovery is a job of its own: durable, resumed where it stood, and shaped by what the endpoint still has open.
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
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, endpoint_id) REFERENCES endpoints (studio_id, id) ON DELETE CASCADE
);
CREATE INDEX recoveries_running ON recoveries (created_at) WHERE status = 'running';
CREATE INDEX recoveries_of_endpoint ON recoveries (studio_id, endpoint_id);
