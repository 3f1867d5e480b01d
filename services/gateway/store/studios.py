"""The gateway's copies of studios."""

from collections.abc import Sequence
from typing import Any

import asyncpg

from services.gateway.errors import SlugTaken
from services.gateway.wire.studio import OperatorStudio
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller

COLUMNS = "id, name, slug, timezone, test, created_at"
LIST = f"SELECT {COLUMNS} FROM studios ORDER BY created_at, id"  # noqa: S608


async def all_of(conn: Connection) -> list[OperatorStudio]:
    return [OperatorStudio(**row) for row in await conn.fetch(LIST)]


FIND = f"SELECT {COLUMNS} FROM studios WHERE slug = $1 OR id::text = lower($1)"  # noqa: S608


async def find(conn: Connection, slug_or_id: str) -> OperatorStudio:
    row = await conn.fetchrow(FIND, slug_or_id)
    if row is None:
        raise unknown(slug_or_id)
    return OperatorStudio(**row)


async def find_for(conn: Connection, caller: Caller, slug_or_id: str) -> OperatorStudio:
    """For staff, every other studio does not exist."""
    studio = await find(conn, slug_or_id)
    if caller.studio_id and caller.studio_id != studio.id:
        raise unknown(slug_or_id)
    return studio


async def named_by(conn: Connection, caller: Caller, slug_or_id: str | None) -> str | None:
    """The id of the named studio, or of the staff's own. None if an operator names none: all of them."""
    named = slug_or_id or caller.studio_id
    return (await find_for(conn, caller, named)).id if named else None


def unknown(slug_or_id: str) -> NotFound:
    return NotFound(f"There is no studio {slug_or_id!r}.", param="studio")


TAKEN = "SELECT FROM studios WHERE slug = $1 AND id <> $2"


async def slug_is_taken(conn: Connection, slug: str, studio_id: str) -> bool:
    return await conn.fetchrow(TAKEN, slug, studio_id) is not None


UPSERT = """
INSERT INTO studios (id, slug, name, timezone, test)
SELECT id, slug, name, timezone, coalesce(test, false)
FROM jsonb_to_recordset($1) AS line (id uuid, slug text, name text, timezone text, test boolean)
ON CONFLICT (id) DO UPDATE SET slug = excluded.slug, name = excluded.name, timezone = excluded.timezone
WHERE (studios.slug, studios.name, studios.timezone)
    IS DISTINCT FROM (excluded.slug, excluded.name, excluded.timezone)
"""


async def upsert(conn: Connection, studios: Sequence[dict[str, Any]]) -> None:
    try:
        await conn.execute(UPSERT, studios)
    except asyncpg.UniqueViolationError as problem:
        if problem.constraint_name == "studio_slug":
            raise SlugTaken(details={"slug": studios[0].get("slug")}) from None
        raise
