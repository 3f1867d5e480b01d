-- Events that are committed and that the event log may not have yet. A row is inserted with the fact that it tells,
-- deleted when the event log has replied that it has the event, and never updated.
CREATE TABLE outbox (
    partition   smallint    NOT NULL,
    id          bigint      GENERATED ALWAYS AS IDENTITY,
    event_id    uuid        NOT NULL,
    studio_id   uuid        NOT NULL,
    type        text        NOT NULL,
    envelope    bytea       NOT NULL,
    traceparent text,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (partition, id)
);
-- Emptied and filled all day: without this its dead rows would slow the relay down.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Who works on which partition: the relay of an outbox, the consumer of the event log. Both times are the database's.
-- A lease counts only while it is close to that clock, on either side, so that a clock which was set back cannot keep
-- a dead replica's leases alive.
CREATE TABLE lease_replicas (
    role    text        NOT NULL,
    replica uuid        NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (role, replica)
) WITH (fillfactor = 50);
CREATE TABLE leases (
    role       text        NOT NULL,
    partition  smallint    NOT NULL,
    replica    uuid        NOT NULL,
    renewed_at timestamptz NOT NULL,
    PRIMARY KEY (role, partition)
) WITH (fillfactor = 50);
