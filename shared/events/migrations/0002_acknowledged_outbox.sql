-- A row stays until the event log has acknowledged its id; a broker's confirm is worth as much as the broker's disk.
-- Its state is in its own columns: waiting (neither `sent_at` nor `parked_at`), in flight since `sent_at`, or parked.
-- No index but the key: a change of state is a HOT update, and the relay's look along the key removes the entries of
-- dead rows on its way.
ALTER TABLE outbox
    ADD COLUMN studio_id uuid,
    ADD COLUMN bucket    smallint NOT NULL DEFAULT 0,
    ADD COLUMN version   integer  NOT NULL DEFAULT 0,
    ADD COLUMN sends     integer  NOT NULL DEFAULT 0,
    ADD COLUMN sent_at   timestamptz,
    ADD COLUMN parked_at timestamptz;
ALTER TABLE outbox SET (fillfactor = 70);

-- The same hash as `bucket_of` in Python. A bucket belongs to the partition `bucket % STUDIO_EVENT_PARTITIONS`, so
-- that rows need not be rewritten when the number of partitions changes.
CREATE FUNCTION outbox_bucket(p_studio uuid) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(sha256(convert_to(p_studio::text, 'UTF8')), 0) % 64)::smallint
$$;

-- The version before this one writes rows without a studio while both run.
CREATE FUNCTION complete_outbox_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.studio_id := (convert_from(NEW.envelope, 'UTF8')::json ->> 'studio_id')::uuid;
    NEW.bucket := coalesce(outbox_bucket(NEW.studio_id), 0);
    RETURN NEW;
EXCEPTION WHEN data_exception THEN
    -- The consumer parks what cannot be read.
    RETURN NEW;
END $$;
CREATE TRIGGER outbox_row_without_studio BEFORE INSERT OR UPDATE OF studio_id ON outbox
    FOR EACH ROW WHEN (NEW.studio_id IS NULL) EXECUTE FUNCTION complete_outbox_row();
UPDATE outbox SET studio_id = NULL;

-- Who works on which partition: the relay of an outbox, the consumer of the event log. Both columns of time are the
-- database's clock; a lease counts only while it is close to that clock, on either side, so that a clock which was
-- set back cannot keep a dead replica's leases alive.
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
