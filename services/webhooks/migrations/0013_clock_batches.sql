-- The last retry that was moved of a lane with more of them than one short transaction should move, and when it was due before.
SET LOCAL lock_timeout = '300ms';
ALTER TABLE clock ADD COLUMN last_endpoint_id uuid, ADD COLUMN last_at timestamptz, ADD COLUMN last_id uuid;
