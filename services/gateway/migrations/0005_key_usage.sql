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
