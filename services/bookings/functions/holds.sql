-- Holds end by the clock, written or not. A read counts those that have not run out at its own moment, which is the same
-- for all columns of a statement.
CREATE OR REPLACE FUNCTION live_holds(p_studio uuid, p_class uuid) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT count(*) FROM bookings b WHERE b.studio_id = p_studio AND b.class_id = p_class
            AND b.status = 'held' AND b.held_until > statement_timestamp());
END $$;

-- The counts in the JSON of a class that has holds (store/classes.py).
CREATE OR REPLACE FUNCTION counts_with_holds(p_studio uuid, p_class uuid, p_seats integer) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    held integer := live_holds(p_studio, p_class);
BEGIN
    RETURN concat(greatest(0, p_seats - held), ',"held_count":', held);
END $$;
