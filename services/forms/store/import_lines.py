"""Bulk upserts of imported lines: one statement a kind, the rows as one JSON parameter."""

from collections.abc import Sequence
from typing import Any

from services.forms.wire.import_lines import ImportedForm, ImportedLead, ImportedStudio, ImportedSubmission
from shared.db.database import Connection
from shared.http.importing import Decoded, Write

Row = dict[str, Any]

# One import per studio at a time: lines lock rows in file order, so two imports could deadlock.
LOCK_IMPORT = """
SELECT pg_advisory_xact_lock(hashtextextended('import:' || studio, 0)) FROM unnest($1::text[]) AS studio
"""


async def lock_import(conn: Connection, lines: Sequence[Decoded[Row]]) -> None:
    await conn.execute(LOCK_IMPORT, sorted({line.studio_id for line in lines}))


STUDIOS = """
INSERT INTO studios (id, timezone)
SELECT id, timezone FROM jsonb_to_recordset($1) AS line (id uuid, timezone text)
ON CONFLICT (id) DO UPDATE SET timezone = excluded.timezone
WHERE studios.timezone IS DISTINCT FROM excluded.timezone
"""


async def write_studios(conn: Connection, lines: Sequence[Decoded[Row]]) -> None:
    await conn.execute(STUDIOS, [line.value for line in lines])


FORMS = """
INSERT INTO forms (studio_id, id, title, slug, description, fields, settings, status, version, created_at,
    updated_at)
SELECT studio_id, id, title, slug, description, fields::json, settings::json, status, coalesce(version, 1),
    coalesce(created_at, clock_timestamp()), coalesce(updated_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, title text, slug text, description text, fields text, settings text, status text,
    version integer, created_at timestamptz, updated_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    title = excluded.title, slug = excluded.slug, description = excluded.description,
    fields = excluded.fields, settings = excluded.settings, status = excluded.status,
    version = greatest(forms.version + 1, excluded.version), updated_at = clock_timestamp()
"""


async def write_forms(conn: Connection, lines: Sequence[Decoded[Row]]) -> None:
    await lock_import(conn, lines)
    await conn.execute(FORMS, _with_studio(lines))


SUBMISSIONS = """
INSERT INTO form_submissions
    (studio_id, id, form_id, form_version, submitter_name, submitter_email, data, consents, status,
    created_at, version, lead_id)
SELECT studio_id, id, form_id, form_version, submitter_name, submitter_email, data::json, consents::json,
    status, coalesce(created_at, clock_timestamp()), coalesce(version, 1), lead_id
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, form_id uuid, form_version integer, submitter_name text, submitter_email text,
    data text, consents text, status text, created_at timestamptz, version integer, lead_id uuid)
ON CONFLICT (studio_id, id) DO UPDATE SET
    form_id = excluded.form_id, form_version = excluded.form_version,
    submitter_name = excluded.submitter_name, submitter_email = excluded.submitter_email,
    lead_id = CASE WHEN form_submissions.submitter_email = excluded.submitter_email
        THEN form_submissions.lead_id END,
    data = excluded.data, consents = excluded.consents, status = excluded.status,
    version = greatest(excluded.version, form_submissions.version + 1)
"""


async def write_submissions(conn: Connection, lines: Sequence[Decoded[Row]]) -> None:
    await lock_import(conn, lines)
    await conn.execute(SUBMISSIONS, _with_studio(lines))


LEADS = """
INSERT INTO leads
    (studio_id, id, email, first_name, last_name, phone, source, status, lifecycle_stage, notes, metadata,
    created_at, version, updated_at)
SELECT studio_id, id, email, first_name, last_name, phone, source, status, lifecycle_stage, notes,
    metadata::json, coalesce(created_at, clock_timestamp()), coalesce(version, 1),
    coalesce(updated_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, email text, first_name text, last_name text, phone text, source text,
    status text, lifecycle_stage text, notes text, metadata text, created_at timestamptz,
    version integer, updated_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    email = excluded.email, first_name = excluded.first_name, last_name = excluded.last_name,
    phone = excluded.phone, source = excluded.source, status = excluded.status,
    lifecycle_stage = excluded.lifecycle_stage, notes = excluded.notes, metadata = excluded.metadata,
    version = greatest(excluded.version, leads.version + 1), updated_at = clock_timestamp()
"""


# As in `submissions.keep_for_lead`: before a lead changes its email.
KEEP_SUBMISSIONS = """
UPDATE form_submissions SET lead_id = leads.id
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, email text)
JOIN leads ON leads.studio_id = line.studio_id AND leads.id = line.id AND leads.email <> line.email
WHERE form_submissions.studio_id = leads.studio_id AND form_submissions.submitter_email = leads.email
    AND form_submissions.lead_id IS NULL
"""


async def write_leads(conn: Connection, lines: Sequence[Decoded[Row]]) -> None:
    await lock_import(conn, lines)
    rows = _with_studio(lines)
    await conn.execute(KEEP_SUBMISSIONS, rows)
    await conn.execute(LEADS, rows)


def _with_studio(lines: Sequence[Decoded[Row]]) -> list[Row]:
    """With the studio that the operator named, whatever the line says."""
    return [line.value | {"studio_id": line.studio_id} for line in lines]


# The lines that are new or differ, by place. JSON is compared as text, as it is shown.
CHANGED: dict[type, str] = {
    ImportedForm: """
SELECT n.ordinality FROM ROWS FROM (jsonb_to_recordset($1) AS (
    studio_id uuid, id uuid, title text, slug text, description text, fields text, settings text, status text,
    version integer)) WITH ORDINALITY AS n
WHERE NOT EXISTS (
    SELECT FROM forms old WHERE old.studio_id = n.studio_id AND old.id = n.id
      AND (old.title, old.slug, old.description, old.fields::text, old.settings::text, old.status)
          IS NOT DISTINCT FROM (n.title, n.slug, n.description, n.fields, n.settings, n.status)
      AND old.version >= coalesce(n.version, 1))
""",
    ImportedSubmission: """
SELECT n.ordinality FROM ROWS FROM (jsonb_to_recordset($1) AS (
    studio_id uuid, id uuid, form_id uuid, form_version integer, submitter_name text, submitter_email text,
    data text, consents text, status text)) WITH ORDINALITY AS n
WHERE NOT EXISTS (
    SELECT FROM form_submissions old WHERE old.studio_id = n.studio_id AND old.id = n.id
      AND (old.form_id, old.form_version, old.submitter_name, old.submitter_email, old.data::text,
           old.consents::text, old.status)
          IS NOT DISTINCT FROM (n.form_id, n.form_version, n.submitter_name, n.submitter_email, n.data,
           n.consents, n.status))
""",
    ImportedLead: """
SELECT n.ordinality FROM ROWS FROM (jsonb_to_recordset($1) AS (
    studio_id uuid, id uuid, email text, first_name text, last_name text, phone text, source text,
    status text, lifecycle_stage text, notes text, metadata text)) WITH ORDINALITY AS n
WHERE NOT EXISTS (
    SELECT FROM leads old WHERE old.studio_id = n.studio_id AND old.id = n.id
      AND (old.email, old.first_name, old.last_name, old.phone, old.source, old.status, old.lifecycle_stage,
           old.notes, old.metadata::text)
          IS NOT DISTINCT FROM (n.email, n.first_name, n.last_name, n.phone, n.source, n.status,
           n.lifecycle_stage, n.notes, n.metadata))
""",
}


async def changed(conn: Connection, kind: type, lines: Sequence[Decoded[Row]]) -> list[int]:
    """Indexes of the changed lines, from 0. Takes no locks and writes nothing."""
    return [row["ordinality"] - 1 for row in await conn.fetch(CHANGED[kind], _with_studio(lines))]


# Referenced kinds go first, so that the lines of a batch may come in any order.
WRITERS: tuple[tuple[type, Write[Row]], ...] = (
    (ImportedStudio, write_studios),
    (ImportedForm, write_forms),
    (ImportedSubmission, write_submissions),
    (ImportedLead, write_leads),
)
