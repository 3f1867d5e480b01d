-- Grow with each change: events tell them, so that outdated ones can be ignored. A price belongs to its product.
ALTER TABLE studios ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE locations ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE rooms ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE class_types ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE instructors ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE products ADD COLUMN version integer NOT NULL DEFAULT 1;
