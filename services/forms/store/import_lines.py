"""Bulk upserts of import lines, and what they name as it is before and after they are written.

It is read under locks: a partner's change in between would get no event.
"""

from typing import Any

from services.forms.store import forms, leads
from services.forms.wire.forms import Form
from services.forms.wire.leads import StaffLead
from shared.db.database import Connection
from shared.transfer.importing import keys_of
from shared.transfer.lines import Rows
from shared.transfer.tables import Table

STUDIOS = """
INSERT INTO studios (id, timezone)
SELECT id, timezone FROM jsonb_to_recordset($1) AS line (id uuid, timezone text)
ON CONFLICT (id) DO UPDATE SET timezone = excluded.timezone
WHERE studios.timezone IS DISTINCT FROM excluded.timezone
"""


async def write_studios(conn: Connection, rows: Rows) -> None:
    await conn.execute(STUDIOS, rows)


FORMS = Table(
    name="forms",
    columns=("title", "slug", "description", "fields", "settings", "status"),
    json=("fields", "settings"),
    # Partners see a form's version.
    same=("old.version >= coalesce(n.version, 1)",),
    instants=("created_at", "updated_at"),
)
SUBMISSIONS = Table(
    name="form_submissions",
    columns=(
        "form_id",
        "form_version",
        "submitter_name",
        "submitter_email",
        "data",
        "consents",
        "status",
    ),
    json=("data", "consents"),
    special={
        "lead_id": "CASE WHEN form_submissions.submitter_email = excluded.submitter_email "
        "THEN form_submissions.lead_id END"
    },
)
LEADS = Table(
    name="leads",
    columns=(
        "email",
        "first_name",
        "last_name",
        "phone",
        "source",
        "status",
        "lifecycle_stage",
        "notes",
        "metadata",
    ),
    json=("metadata",),
    instants=("created_at", "updated_at"),
)
# As in `submissions.keep_for_lead`: before a lead changes its email.
KEEP_SUBMISSIONS = """
UPDATE form_submissions SET lead_id = leads.id
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, email text)
JOIN leads ON leads.studio_id = line.studio_id AND leads.id = line.id AND leads.email <> line.email
WHERE form_submissions.studio_id = leads.studio_id AND form_submissions.submitter_email = leads.email
    AND form_submissions.lead_id IS NULL
"""


async def write_leads(conn: Connection, rows: Rows) -> None:
    await conn.execute(KEEP_SUBMISSIONS, rows)
    await LEADS.write(conn, rows)


async def _read(conn: Connection, table: str, columns: str, rows: Rows) -> dict[tuple[str, str], Any]:
    sql = f"""
SELECT studio_id, {columns} FROM {table}
WHERE (studio_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
ORDER BY studio_id, id FOR NO KEY UPDATE
"""  # noqa: S608
    return {(row["studio_id"], row["id"]): row for row in await conn.fetch(sql, *keys_of(rows))}


async def read_forms(conn: Connection, rows: Rows) -> dict[tuple[str, str], Form]:
    found = await _read(conn, "forms", forms.COLUMNS, rows)
    return {key: forms.form_of(row) for key, row in found.items()}


async def read_submissions(conn: Connection, rows: Rows) -> dict[tuple[str, str], tuple[str, int]]:
    """The form and the version of each."""
    found = await _read(conn, "form_submissions", "id, form_id, version", rows)
    return {key: (row["form_id"], row["version"]) for key, row in found.items()}


async def read_leads(conn: Connection, rows: Rows) -> dict[tuple[str, str], StaffLead]:
    found = await _read(conn, "leads", leads.COLUMNS, rows)
    return {key: leads.lead_of(row) for key, row in found.items()}
