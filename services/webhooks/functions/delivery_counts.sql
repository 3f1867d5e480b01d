-- How many deliveries are open: each statement that changes the numbers appends its difference.
CREATE OR REPLACE FUNCTION count_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
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
