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
    PRIMARY KEY (studio_id, client_id, id)
);
CREATE INDEX requests_by_status ON requests (studio_id, client_id, status_class, id);
CREATE INDEX requests_by_request_id ON requests (studio_id, client_id, request_id, id);
-- Rows come in the order of their time, and the oldest are deleted in that order.
CREATE INDEX requests_by_age ON requests USING brin (at) WITH (autosummarize = on);

-- Every write of operators and staff. Kept for good.
CREATE TABLE audit_log (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    request_id text NOT NULL
);
CREATE INDEX audit_log_in_order ON audit_log (at, id);
