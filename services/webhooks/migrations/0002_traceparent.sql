-- Under which trace an event came, so that its deliveries belong to the partner's call that caused it.
ALTER TABLE events ADD COLUMN traceparent text;
