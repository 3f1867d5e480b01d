"""Reads what an import's lines name, before and after they are written.

Under locks: a partner's change in between would get no event.
"""

from collections.abc import Sequence
from typing import Any

from services.forms.store.forms import form_of
from services.forms.store.leads import lead_of
from services.forms.wire.forms import Form
from services.forms.wire.leads import StaffLead
from shared.db.database import Connection
from shared.http.importing import Decoded

FORMS = """
SELECT studio_id, id, title, slug, description, fields::text AS fields, settings::text AS settings, status,
    version
FROM forms WHERE (studio_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
ORDER BY studio_id, id FOR NO KEY UPDATE
"""


async def forms(conn: Connection, lines: Sequence[Decoded[Any]]) -> dict[tuple[str, str], Form]:
    rows = await conn.fetch(FORMS, *_keys(lines))
    return {(row["studio_id"], row["id"]): form_of(row) for row in rows}


SUBMISSIONS = """
SELECT studio_id, id, form_id, version FROM form_submissions
WHERE (studio_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
ORDER BY studio_id, id FOR NO KEY UPDATE
"""


async def submissions(
    conn: Connection, lines: Sequence[Decoded[Any]]
) -> dict[tuple[str, str], tuple[str, int]]:
    """The form and the version of each."""
    rows = await conn.fetch(SUBMISSIONS, *_keys(lines))
    return {(row["studio_id"], row["id"]): (row["form_id"], row["version"]) for row in rows}


LEADS = """
SELECT studio_id, id, email, first_name, source, status, lifecycle_stage, metadata::text AS metadata,
    created_at, last_name, phone, notes, version, updated_at
FROM leads WHERE (studio_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
ORDER BY studio_id, id FOR NO KEY UPDATE
"""


async def leads(conn: Connection, lines: Sequence[Decoded[Any]]) -> dict[tuple[str, str], StaffLead]:
    rows = await conn.fetch(LEADS, *_keys(lines))
    return {(row["studio_id"], row["id"]): lead_of(row) for row in rows}


def _keys(lines: Sequence[Decoded[Any]]) -> tuple[list[str], list[str]]:
    return [line.studio_id for line in lines], [line.value["id"] for line in lines]
