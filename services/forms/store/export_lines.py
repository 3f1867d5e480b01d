"""This service's rows as import lines, referenced kinds first."""

from shared.transfer.exporting import section

SECTIONS = (
    section(
        "form",
        "forms",
        "title, slug, description, fields::text AS fields, settings::text AS settings, status, version, "
        "created_at, updated_at",
        json=("fields", "settings"),
    ),
    section(
        "form_submission",
        "form_submissions",
        "form_id, submitter_email, submitter_name, data::text AS data, status, form_version, "
        "consents::text AS consents, version, lead_id, created_at",
        of_person="""t.submitter_email = $5 OR t.lead_id IN (
            SELECT l.id FROM leads l WHERE l.studio_id = $1 AND l.email = $5)""",
        json=("data", "consents"),
    ),
    section(
        "lead",
        "leads",
        "email, first_name, last_name, phone, source, status, lifecycle_stage, notes, "
        "metadata::text AS metadata, version, created_at, updated_at",
        of_person="t.email = $5",
        json=("metadata",),
    ),
)
