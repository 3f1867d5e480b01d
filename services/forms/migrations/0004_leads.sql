-- `email` is stored normalized. The unique constraint is what makes two creations at the same moment one lead.
CREATE TABLE leads (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    email           text        NOT NULL,
    first_name      text        NOT NULL DEFAULT '',
    last_name       text,
    phone           text,
    source          text,
    status          text        NOT NULL
        CHECK (status IN ('new', 'contacted', 'qualified', 'converted', 'unqualified')),
    lifecycle_stage text        CHECK (lifecycle_stage IN ('lead', 'trial', 'member', 'former_member')),
    notes           text,
    metadata        json        NOT NULL DEFAULT '{}',
    version         integer     NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (studio_id, id),
    CONSTRAINT leads_one_per_email UNIQUE (studio_id, email)
);
CREATE INDEX leads_in_order ON leads (studio_id, created_at, id);
