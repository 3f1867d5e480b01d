-- Grows with each change, like that of the other resources: events tell it, so that outdated ones can be ignored.
ALTER TABLE purchases ADD COLUMN version integer NOT NULL DEFAULT 1;
