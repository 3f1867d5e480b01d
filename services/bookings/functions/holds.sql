-- Holds end by the clock, written or not. A read counts those that have not run out at its own moment, which is the same
-- for all columns of a statement.
CREATE OR REPLACE FUNCTION live_holds(p_studio uuid, p_class uuid) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT count(*) FROM bookings b WHERE b.studio_id = p_studio AND b.class_id = p_class
            AND b.status = 'held' AND b.held_until > statement_timestamp());
END $$;
