-- `booked_count` in the condition of an index meant that no booking could update its class in place (a HOT update):
-- each wrote a new entry into every index of classes. The loop that needs this index finds its few classes by
-- classes_with_waitlist, and now runs every ten seconds instead of every second.
DROP INDEX classes_with_seats_to_give;
