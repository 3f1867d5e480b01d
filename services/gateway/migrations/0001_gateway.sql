-- Studios, clients and keys.

-- The gateway's copy of a studio: what a key is issued for.
CREATE TABLE studios (
    id uuid PRIMARY KEY,
    slug text CONSTRAINT studio_slug UNIQUE,
    name text NOT NULL,
    timezone text,
    test boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A client is a partner's integration with one studio; its keys come and go.
CREATE TABLE clients (
    studio_id uuid NOT NULL REFERENCES studios (id),
    id uuid NOT NULL,
    name text NOT NULL,
    rate double precision NOT NULL CONSTRAINT client_rate_positive CHECK (rate > 0),
    burst integer NOT NULL CONSTRAINT client_burst_positive CHECK (burst > 0),
    -- The part of a class's seats that it may hold at once; null: a third.
    hold_share numeric(5, 4) CHECK (hold_share BETWEEN 0 AND 1),
    -- False once the webhooks service has been told that no live key is left.
    live boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (studio_id, id),
    CONSTRAINT client_id UNIQUE (id),
    CONSTRAINT client_name UNIQUE (studio_id, name)
);

CREATE TABLE keys (
    id uuid PRIMARY KEY,
    studio_id uuid NOT NULL,
    client_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    secret_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    location_ids uuid[],
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    -- How long the key was made for, which an overlap does not change: its successor is made for as long.
    lifetime interval,
    last_used_at timestamptz,
    revoked_at timestamptz,
    FOREIGN KEY (studio_id, client_id) REFERENCES clients (studio_id, id)
);
CREATE INDEX keys_of_client ON keys (studio_id, client_id, created_at, id);
CREATE INDEX keys_in_order ON keys (created_at, id);

-- A token for one studio's desk. Its secret is hashed like a key's.
CREATE TABLE staff_tokens (
    studio_id uuid NOT NULL REFERENCES studios (id),
    id uuid NOT NULL,
    name text NOT NULL,
    role text NOT NULL CONSTRAINT staff_token_role CHECK (role IN ('staff', 'manager')),
    prefix text NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT staff_token_id UNIQUE (id)
);
CREATE INDEX staff_tokens_in_order ON staff_tokens (studio_id, created_at, id);

-- Sessions of the consoles.

-- A partner's session: the client's key with some of its scopes, for a while.
CREATE TABLE console_sessions (
    studio_id uuid NOT NULL,
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    key_id uuid NOT NULL REFERENCES keys (id),
    scopes text[] NOT NULL,
    -- Null once the link was used: it works once.
    link_hash bytea,
    link_expires_at timestamptz NOT NULL,
    -- Of the cookie; null until the link was used.
    secret_hash bytea,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT console_session_id UNIQUE (id),
    FOREIGN KEY (studio_id, client_id) REFERENCES clients (studio_id, id)
);
CREATE INDEX console_sessions_expiring ON console_sessions (expires_at);
CREATE INDEX console_links_expiring ON console_sessions (link_expires_at) WHERE secret_hash IS NULL;
-- The open links of a client, which are limited.
CREATE INDEX console_links_of_a_client ON console_sessions (studio_id, client_id, link_expires_at)
    WHERE secret_hash IS NULL;

-- A session in the operators' console. It ends with the token that it was opened with.
CREATE TABLE operator_sessions (
    id uuid PRIMARY KEY,
    secret_hash bytea NOT NULL,
    -- Of the operator token; null for a staff token's session.
    token_hash bytea,
    studio_id uuid,
    staff_token_id uuid,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    FOREIGN KEY (studio_id, staff_token_id) REFERENCES staff_tokens (studio_id, id),
    CONSTRAINT operator_session_of_one_token CHECK ((token_hash IS NULL) = (staff_token_id IS NOT NULL)),
    CONSTRAINT operator_session_of_a_studio CHECK ((studio_id IS NULL) = (staff_token_id IS NULL))
);
CREATE INDEX operator_sessions_expiring ON operator_sessions (expires_at);

-- What was done.

-- What partners asked for, kept for seven days. Ids grow with time, so they are the list's order and its cursor.
CREATE TABLE requests (
    studio_id uuid NOT NULL,
    client_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id text NOT NULL,
    at timestamptz NOT NULL,
    method text NOT NULL,
    route text,
    status smallint NOT NULL,
    status_class smallint NOT NULL,
    error_code text,
    duration_ms double precision NOT NULL,
    key_id uuid NOT NULL,
    source text NOT NULL CHECK (source IN ('key', 'console')),
    PRIMARY KEY (studio_id, client_id, id)
);
CREATE INDEX requests_by_status ON requests (studio_id, client_id, status_class, id);
CREATE INDEX requests_by_request_id ON requests (studio_id, client_id, request_id, id);
CREATE INDEX requests_by_route ON requests (studio_id, client_id, route, id);
CREATE INDEX requests_by_error ON requests (studio_id, client_id, error_code, id) WHERE error_code IS NOT NULL;
CREATE INDEX requests_of_the_console ON requests (studio_id, client_id, id) WHERE source = 'console';
-- Rows come in the order of their time, and the oldest are deleted in that order.
CREATE INDEX requests_by_age ON requests USING brin (at) WITH (autosummarize = on);

-- Requests of each key by the hour, so that a sum costs the same however many there were. Kept for 31 days.
CREATE TABLE key_usage (
    studio_id uuid NOT NULL,
    client_id uuid NOT NULL,
    key_id uuid NOT NULL,
    hour timestamptz NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    PRIMARY KEY (studio_id, client_id, key_id, hour)
);
CREATE INDEX key_usage_by_age ON key_usage (hour);

-- Requests of each client by the minute and by how long they took (shared/percentiles.py), for 7 days: a histogram costs
-- the same however many there were.
CREATE TABLE request_minutes (
    studio_id uuid NOT NULL,
    client_id uuid NOT NULL,
    source text NOT NULL,
    minute timestamptz NOT NULL,
    bucket smallint NOT NULL,
    status_2xx integer NOT NULL,
    status_3xx integer NOT NULL,
    status_4xx integer NOT NULL,
    status_5xx integer NOT NULL,
    PRIMARY KEY (studio_id, client_id, source, minute, bucket)
);
CREATE INDEX request_minutes_by_age ON request_minutes (minute);

-- The figures of the status at each minute of the last hour.
CREATE TABLE status_history (
    at timestamptz PRIMARY KEY,
    sample jsonb NOT NULL
);

-- Every write of operators and staff. Kept for good.
CREATE TABLE audit_log (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    request_id text NOT NULL,
    -- Null where it was of several studios, or of none.
    studio_id uuid
);
CREATE INDEX audit_log_in_order ON audit_log (at, id);
CREATE INDEX audit_log_of_studio ON audit_log (studio_id, at, id);
CREATE INDEX audit_log_by_actor ON audit_log (actor, at, id);
CREATE INDEX audit_log_by_action ON audit_log (action, at, id);
CREATE INDEX audit_log_by_target ON audit_log (target, at, id);
