-- A copy: an import sends a studio's line to every service that needs it. The time zone gives the country of phone
-- numbers that are written without their country code.
CREATE TABLE studios (
    id       uuid PRIMARY KEY,
    timezone text
);

-- Keys are (studio_id, id), foreign keys included: no row can belong to another studio's.
-- `fields` and `settings` are json and not jsonb: they come back as they were written, digits and order included.
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

-- `form_version` and `consents` say what was shown when the answers were given. `lead_id` is the lead that had
-- the submitter's email at that moment. It finds the person's submissions for an erasure, also after the lead's email
-- has changed; the lead's metadata cannot say it, since partners may write there.
CREATE TABLE form_submissions (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    form_id         uuid        NOT NULL,
    form_version    integer     NOT NULL,
    submitter_name  text,
    submitter_email text        NOT NULL,
    data            json        NOT NULL,
    consents        json        NOT NULL,
    status          text        NOT NULL CHECK (status IN ('pending', 'reviewed', 'rejected')),
    version         integer     NOT NULL DEFAULT 1,
    lead_id         uuid,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (studio_id, id),
    CONSTRAINT form_submission_form FOREIGN KEY (studio_id, form_id) REFERENCES forms (studio_id, id)
);
CREATE INDEX form_submissions_in_order ON form_submissions (studio_id, form_id, created_at, id);
CREATE INDEX form_submissions_by_email ON form_submissions (studio_id, submitter_email, form_id);
CREATE INDEX form_submissions_of_lead ON form_submissions (studio_id, lead_id) WHERE lead_id IS NOT NULL;

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

-- The bus delivers at least once: an event whose id is here has had its effect.
CREATE TABLE consumed_events (
    event_id    uuid PRIMARY KEY,
    consumed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX consumed_events_by_age ON consumed_events (consumed_at);
