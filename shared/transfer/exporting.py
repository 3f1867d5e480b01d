"""The part of the export that every service shares: its rows as import lines, page after page."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from shared.db.database import Database
from shared.wire import Id, Query, encode

PAGE_LINES: Final = 2000
PAGE_BYTES: Final = 4 * 1024 * 1024
# How many rows are read ahead. Each may be as large as a request's body.
PREFETCH: Final = 50


class ExportQuery(Query, frozen=True, kw_only=True):
    studio_id: Id
    # Only what belongs to one person.
    member_id: Id | None = None
    email: str | None = None
    cursor: str | None = None


class ExportPage(Struct):
    lines: list[msgspec.Raw]
    next_cursor: str | None


class Section(Struct, frozen=True):
    """Rows of one kind. Parameters: the studio, the position to continue after, the person's id and email.

    A position consists of `place` in the response and the id. `json` names the columns that contain JSON as
    text, which is sent unchanged.
    """

    kind: str
    statement: str
    json: tuple[str, ...] = ()
    in_person_export: bool = False


class _Place(Struct, array_like=True):
    section: int
    position: datetime | None = None
    id: Id | None = None


def section(
    kind: str,
    table: str,
    columns: str,
    *,
    position: str = "created_at",
    where: str = "true",
    of_person: str | None = None,
    json: tuple[str, ...] = (),
) -> Section:
    """`columns` are named like the line's fields, `t` is the table, `$4` and `$5` a person's id and email."""
    statement = f"""
SELECT t.id, t.studio_id, {columns}, t.{position} AS place FROM {table} t
WHERE t.studio_id = $1 AND (t.{position}, t.id) > (coalesce($2::timestamptz, '-infinity'), $3::uuid)
  AND ({where}) AND ($4::uuid IS NULL OR ({of_person or "false"}) OR $5::text IS NULL AND false)
ORDER BY t.{position}, t.id
"""  # noqa: S608
    return Section(kind, statement, json, of_person is not None)


FIRST_ID: Final = "00000000-0000-0000-0000-000000000000"


async def export_page(db: Database, sections: Sequence[Section], query: ExportQuery) -> ExportPage:
    place = _Place(0)
    if query.cursor is not None:
        place = msgspec.json.decode(query.cursor, type=_Place)
    lines: list[msgspec.Raw] = []
    size = 0
    async with db.transaction() as conn:
        for number in range(place.section, len(sections)):
            part = sections[number]
            if query.member_id is not None and not part.in_person_export:
                continue
            start = place if number == place.section else _Place(number)
            found = conn.cursor(
                part.statement,
                query.studio_id,
                start.position,
                start.id or FIRST_ID,
                query.member_id,
                query.email,
                prefetch=PREFETCH,
            )
            async for row in found:
                line = encode(_line(part, dict(row)))
                lines.append(msgspec.Raw(line))
                size += len(line)
                if len(lines) >= PAGE_LINES or size >= PAGE_BYTES:
                    after = _Place(number, row["place"], row["id"])
                    return ExportPage(lines, encode(after).decode())
    return ExportPage(lines, None)


def _line(part: Section, row: dict[str, Any]) -> dict[str, Any]:
    del row["place"]
    for name in part.json:
        row[name] = None if row[name] is None else msgspec.Raw(row[name].encode())
    return {"object": part.kind, **row}
