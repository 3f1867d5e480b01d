-- Events that are committed and not yet confirmed by the bus. A row leaves after the confirm, by its id, so the
-- table stays as small as what is under way and keeps no personal data.
CREATE TABLE outbox (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    uuid        NOT NULL,
    type        text        NOT NULL,
    aggregate   text        NOT NULL,
    envelope    bytea       NOT NULL,
    traceparent text,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Emptied and filled all day: without this its dead rows would slow the relay's look at the oldest ones.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
