-- The same hash as `bucket_of` in Python. A bucket belongs to the partition `bucket % STUDIO_EVENT_PARTITIONS`, so
-- that rows need not be rewritten when the number of partitions changes.
CREATE OR REPLACE FUNCTION outbox_bucket(p_studio uuid) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(sha256(convert_to(p_studio::text, 'UTF8')), 0) % 64)::smallint
$$;

-- The version before this one writes rows without a studio while both run.
CREATE OR REPLACE FUNCTION complete_outbox_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.studio_id := (convert_from(NEW.envelope, 'UTF8')::json ->> 'studio_id')::uuid;
    NEW.bucket := coalesce(outbox_bucket(NEW.studio_id), 0);
    RETURN NEW;
EXCEPTION WHEN data_exception THEN
    -- The consumer parks what cannot be read.
    RETURN NEW;
END $$;
