-- The latest time that the database's clock has shown. If the clock is set back, the times of waiting retries are moved back
-- with it: by `shift_seconds`, lane by lane, as far as `shifted_until`.
CREATE TABLE clock (
    only_row      boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    seen_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    shift_seconds float8,
    shifted_until uuid
) WITH (fillfactor = 50);
INSERT INTO clock DEFAULT VALUES;
