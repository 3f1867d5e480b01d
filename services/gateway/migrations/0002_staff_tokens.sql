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
