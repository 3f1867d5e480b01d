-- Where the resource of an event is now that has left the event's location; null where it has no location any more.
ALTER TABLE events ADD COLUMN moved_to uuid;
