-- The same hash as `partition_of` in Python.
CREATE OR REPLACE FUNCTION outbox_partition(p_studio uuid) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(sha256(convert_to(p_studio::text, 'UTF8')), 0) % 16)::smallint
$$;
