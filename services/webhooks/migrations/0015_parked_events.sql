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
