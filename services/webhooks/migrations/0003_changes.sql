-- `changes` grows with everything that makes what a lane has in hand stale: another URL, other secrets, a status,
-- erased bodies. New work alone does not count, so that a busy lane keeps its hand.
ALTER TABLE lanes ADD COLUMN changes bigint NOT NULL DEFAULT 0;
-- Five days of failures need failures in between: one of long ago and then silence is none.
ALTER TABLE lanes ADD COLUMN last_failed_at timestamptz;
UPDATE lanes SET last_failed_at = failing_since;
-- The event's person was erased: no answer to it is stored any more, not even of an attempt under way.
ALTER TABLE deliveries ADD COLUMN erased boolean NOT NULL DEFAULT false;
-- Recoveries take turns.
ALTER TABLE recoveries ADD COLUMN stepped_at timestamptz NOT NULL DEFAULT '-infinity';
DROP INDEX recoveries_running;
CREATE INDEX recoveries_running ON recoveries (stepped_at, created_at) WHERE status = 'running';
