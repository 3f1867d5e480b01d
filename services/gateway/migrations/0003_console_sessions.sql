-- A partner's session in the console: that client's key with some of its scopes, for a while.
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
