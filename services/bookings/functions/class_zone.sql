-- The time zone of a class: its location's; the studio's where it has none; else UTC. A name that this server does not know
-- counts as none.
CREATE OR REPLACE FUNCTION class_zone(p_studio uuid, p_location uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    zone text;
BEGIN
    FOR zone IN
        SELECT timezone FROM (
            SELECT timezone, 1 AS place FROM locations WHERE studio_id = p_studio AND id = p_location
            UNION ALL SELECT timezone, 2 FROM studios WHERE id = p_studio) AS known
        WHERE timezone IS NOT NULL ORDER BY place
    LOOP
        BEGIN
            PERFORM now() AT TIME ZONE zone;
            RETURN zone;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END LOOP;
    RETURN 'UTC';
END $$;

-- Whoever adds a class. Not for updates: with a trigger that could change a column, every booking would compute the
-- class's JSON again. store/classes.py sets the zone of a class that moves.
CREATE OR REPLACE FUNCTION set_class_zone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.timezone := class_zone(NEW.studio_id, NEW.location_id);
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER class_zone BEFORE INSERT ON classes FOR EACH ROW EXECUTE FUNCTION set_class_zone();
