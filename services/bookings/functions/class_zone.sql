-- The time zone of a class: its location's; the studio's where it has none; else UTC. A name that this server does not know
-- counts as none.
--
-- FOR SHARE: whoever changes a zone waits for those who write a class with the old one, and then finds it. Classes are
-- locked before locations and studios (store/locks.py).
CREATE OR REPLACE FUNCTION class_zone(p_studio uuid, p_location uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    of_location text;
    of_studio text;
BEGIN
    SELECT timezone INTO of_location FROM bookings.locations WHERE studio_id = p_studio AND id = p_location FOR SHARE;
    IF of_location IS NOT NULL AND bookings.is_zone(of_location) THEN
        RETURN of_location;
    END IF;
    SELECT timezone INTO of_studio FROM bookings.studios WHERE id = p_studio FOR SHARE;
    RETURN CASE WHEN of_studio IS NOT NULL AND bookings.is_zone(of_studio) THEN of_studio ELSE 'UTC' END;
END $$;

CREATE OR REPLACE FUNCTION is_zone(p_name text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM now() AT TIME ZONE p_name;
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END $$;

-- Whoever adds a class. Not for updates: with a trigger that could change a column, every booking would compute the
-- class's JSON again. store/classes.py sets the zone of a class that moves.
CREATE OR REPLACE FUNCTION set_class_zone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.timezone := bookings.class_zone(NEW.studio_id, NEW.location_id);
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER class_zone BEFORE INSERT ON classes FOR EACH ROW EXECUTE FUNCTION set_class_zone();
