-- A response is stored by the transaction that had its effect. A key without a row whose advisory lock is held is
-- in progress. A secret that is shown once is not stored.
CREATE TABLE idempotency_keys (
    studio_id   uuid        NOT NULL,
    client_id   text        NOT NULL,
    key         text        NOT NULL,
    route       text        NOT NULL,
    fingerprint bytea       NOT NULL,
    http_status smallint    NOT NULL,
    body        bytea       NOT NULL,
    resource_id uuid,
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (studio_id, client_id, key)
);
CREATE INDEX idempotency_keys_to_prune ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_by_resource ON idempotency_keys (studio_id, resource_id);
