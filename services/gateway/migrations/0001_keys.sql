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
    -- Every gateway replica asks for what has changed since it last looked.
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (studio_id, client_id) REFERENCES clients (studio_id, id)
);
CREATE INDEX keys_changed ON keys (changed_at);
CREATE INDEX keys_of_client ON keys (studio_id, client_id, created_at, id);
CREATE INDEX keys_in_order ON keys (created_at, id);
