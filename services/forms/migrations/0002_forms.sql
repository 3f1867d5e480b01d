-- Keys are (studio_id, id), foreign keys included: no row can hang on another studio's.
-- `fields` and `settings` are json and not jsonb: they come back as the studio drew them, digits and order included.
CREATE TABLE forms (
    studio_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    title       text        NOT NULL,
    slug        text        NOT NULL,
    description text,
    fields      json        NOT NULL,
    settings    json        NOT NULL,
    status      text        NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
    version     integer     NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (studio_id, id),
    CONSTRAINT forms_one_per_slug UNIQUE (studio_id, slug)
);
CREATE INDEX forms_in_order ON forms (studio_id, created_at, id);
CREATE INDEX published_forms_in_order ON forms (studio_id, created_at, id) WHERE status = 'published';
