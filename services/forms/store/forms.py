"""Forms in the database."""

from typing import Any

import asyncpg

from services.forms.errors import SlugTaken
from services.forms.wire.forms import Form, FormsQuery
from services.forms.wire.json_text import read_row
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_by_size, start_after

COLUMNS = """
id, title, slug, description, fields::text AS fields, settings::text AS settings, status, version
"""
GET = f"SELECT {COLUMNS} FROM forms WHERE studio_id = $1 AND id = $2"  # noqa: S608


async def get(conn: Connection, caller: Caller, form_id: str, *, lock: bool = False) -> Form:
    """With `lock` no one can change it, or submit to it if limited, until the transaction ends."""
    return form_of(
        await conn.fetchrow(f"{GET} FOR NO KEY UPDATE" if lock else GET, caller.studio_id, form_id)
    )


# A caller who cannot see drafts cannot use one as a cursor; a form archived since still works as one.
CURSOR = """
SELECT created_at, id FROM forms WHERE studio_id = $1 AND id = $3 AND ($2 OR status <> 'draft')
"""
ALL = f"""
SELECT {COLUMNS}, created_at FROM forms WHERE studio_id = $1 AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""  # noqa: S608
PUBLISHED = f"""
SELECT {COLUMNS}, created_at FROM forms
WHERE studio_id = $1 AND status = 'published' AND (created_at, id) > ($2, $3)
ORDER BY created_at, id LIMIT $4
"""  # noqa: S608


async def page(conn: Connection, caller: Caller, query: FormsQuery, *, drafts_known: bool) -> Page[Form]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id, drafts_known)
    sql = ALL if query.include_drafts else PUBLISHED
    return await page_by_size(conn, sql, (caller.studio_id,), after, query.limit, form_of)


INSERT = """
INSERT INTO forms (studio_id, id, title, slug, description, fields, settings, status)
VALUES ($1, $2, $3, $4, $5, $6::text::json, $7::text::json, $8)
"""


async def insert(conn: Connection, caller: Caller, form: Form) -> None:
    await _write(conn, INSERT, caller, form)


UPDATE = """
UPDATE forms SET title = $3, slug = $4, description = $5, fields = $6::text::json, settings = $7::text::json,
    status = $8, version = version + 1, updated_at = clock_timestamp()
WHERE studio_id = $1 AND id = $2
"""


async def update(conn: Connection, caller: Caller, form: Form) -> None:
    """Under its lock. `form` has the version that follows."""
    await _write(conn, UPDATE, caller, form)


async def _write(conn: Connection, sql: str, caller: Caller, form: Form) -> None:
    fields, settings = bytes(form.fields).decode(), bytes(form.settings).decode()
    values = (form.title, form.slug, form.description, fields, settings, form.status)
    try:
        await conn.execute(sql, caller.studio_id, form.id, *values)
    except asyncpg.UniqueViolationError as problem:
        if problem.constraint_name == "forms_one_per_slug":
            raise SlugTaken(form.slug) from None
        raise


def form_of(row: Any) -> Form:
    if row is None:
        raise NotFound
    return read_row(row, Form, "fields", "settings")
