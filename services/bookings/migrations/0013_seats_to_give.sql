-- Free seats beside people who wait: none by any change of today. Earlier imports left some, which the waitlist loop
-- finds here and gives out. `promotion_due` is no longer read.
CREATE INDEX classes_with_seats_to_give ON classes (start_time, studio_id, id)
    WHERE waitlist_count > 0 AND capacity > booked_count AND status = 'scheduled';
