-- The bus delivers at least once: an event whose id is here has had its effect.
CREATE TABLE consumed_events (
    event_id    uuid PRIMARY KEY,
    consumed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX consumed_events_by_age ON consumed_events (consumed_at);
