-- How many deliveries are open, without counting them: each statement that changes the numbers appends its
-- difference, and the sum of all rows is the figure. Appended, because a single row would make every writer wait
-- for the others. `stats.fold` adds the rows up from time to time.
CREATE TABLE delivery_counts (
    pending bigint NOT NULL,
    dead    bigint NOT NULL
);

CREATE FUNCTION count_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    more_pending bigint := 0;
    more_dead    bigint := 0;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        SELECT count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'dead')
        INTO more_pending, more_dead FROM rows_after;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT more_pending - count(*) FILTER (WHERE status = 'pending'),
               more_dead - count(*) FILTER (WHERE status = 'dead')
        INTO more_pending, more_dead FROM rows_before;
    END IF;
    IF more_pending <> 0 OR more_dead <> 0 THEN
        INSERT INTO webhooks.delivery_counts VALUES (more_pending, more_dead);
    END IF;
    RETURN NULL;
END $$;

-- From here on nobody else writes deliveries until this is committed, so that none is missed or counted twice.
CREATE TRIGGER count_inserted AFTER INSERT ON deliveries REFERENCING NEW TABLE AS rows_after
    FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
CREATE TRIGGER count_updated AFTER UPDATE ON deliveries
    REFERENCING OLD TABLE AS rows_before NEW TABLE AS rows_after
    FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
CREATE TRIGGER count_deleted AFTER DELETE ON deliveries REFERENCING OLD TABLE AS rows_before
    FOR EACH STATEMENT EXECUTE FUNCTION count_deliveries();
INSERT INTO delivery_counts
SELECT count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'dead')
FROM deliveries WHERE status IN ('pending', 'dead');
