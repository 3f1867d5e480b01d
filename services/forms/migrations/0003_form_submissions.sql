-- `form_version` and `consents` say what was shown when the answers were given.
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
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (studio_id, id),
    CONSTRAINT form_submission_form FOREIGN KEY (studio_id, form_id) REFERENCES forms (studio_id, id)
);
CREATE INDEX form_submissions_in_order ON form_submissions (studio_id, form_id, created_at, id);
CREATE INDEX form_submissions_by_email ON form_submissions (studio_id, submitter_email, form_id);
