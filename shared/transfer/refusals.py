"""Which lines are refused: for an unknown reference, for a value that is taken, or by a rule of the service.

An import and its dry run make the same checks. Each is one query for all lines of a kind.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from shared.db.database import Connection
from shared.transfer.lines import Line, Row, Rows, already_taken, unknown_reference

Write = Callable[[Connection, Rows], Awaitable[None]]
# Returns the indexes of the rows that are new or differ from what is stored. Takes no locks.
Changed = Callable[[Connection, Rows], Awaitable[Sequence[int]]]
Key = tuple[str, str, str]
"""A table, a studio and an id."""


class Unique(Struct, frozen=True, kw_only=True):
    """Fields that no two rows of a studio share, among those with one of the `statuses`.

    `where` says which stored rows `t` count. With `exchange`, the lines of a batch may exchange the value.
    """

    fields: tuple[str, ...]
    reason: str | None = None
    statuses: tuple[str, ...] = ()
    where: str = "true"
    exchange: bool = False

    def value_of(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        """With the studio. None if the row has no such value, or if it does not count."""
        values = [row.get(name) for name in ("studio_id", *self.fields)]
        counts = not self.statuses or row["status"] in self.statuses
        return tuple(map(str, values)) if counts and None not in values else None


class Importer(Struct, frozen=True, kw_only=True):
    """How lines of one kind are checked, compared and written.

    Without `write` another service stores them, and they refer to rows of this one. Without `changed` they
    are compared when written. `refers_to` are tables by field. `rules` are reasons with the condition under
    which they refuse a line: `line` is its JSON, `n` its row, `old` the stored one.
    """

    line: type[Any]
    table: str = ""
    write: Write | None = None
    changed: Changed | None = None
    refers_to: Mapping[str, str] = {}
    unique: tuple[Unique, ...] = ()
    rules: Mapping[str, str] = {}


async def refuse(
    conn: Connection, importer: Importer, lines: Sequence[Line], known: set[Key]
) -> dict[int, str]:
    """The reasons by line number. `known` counts as stored; the accepted lines are added to it."""
    if not lines:
        return {}
    reasons = await _broken_rules(conn, importer, lines)
    stored = await _stored_references(conn, importer, lines)
    taken = [await _Taken.read(conn, importer.table, unique, lines) for unique in importer.unique]
    for line in lines:
        if line.number in reasons:
            continue
        refusals = [_unknown_reference(importer, line, known, stored), *(one.refusal(line) for one in taken)]
        if reason := next(filter(None, refusals), None):
            reasons[line.number] = reason
            continue
        for one in taken:
            one.take(line.row)
        known.add((importer.table, *line.key))
    return reasons


async def _broken_rules(conn: Connection, importer: Importer, lines: Sequence[Line]) -> dict[int, str]:
    if not importer.rules:
        return {}
    table = importer.table
    cases = " ".join(
        f"WHEN {condition} THEN ${place}" for place, condition in enumerate(importer.rules.values(), 2)
    )
    sql = f"""
SELECT place, reason FROM (
    SELECT place, CASE {cases} END AS reason
    FROM jsonb_array_elements($1) WITH ORDINALITY AS given (line, place)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, line) n
    LEFT JOIN {table} old ON old.studio_id = n.studio_id AND old.id = n.id) checked
WHERE reason IS NOT NULL
"""  # noqa: S608
    broken = await conn.fetch(sql, [line.row for line in lines], *importer.rules)
    return {lines[row["place"] - 1].number: row["reason"] for row in broken}


async def _stored_references(conn: Connection, importer: Importer, lines: Sequence[Line]) -> set[Key]:
    found: set[Key] = set()
    for field, table in importer.refers_to.items():
        named = {(line.studio_id, line.row[field]) for line in lines if line.row.get(field) is not None}
        if named:
            rows = await conn.fetch(_STORED.format(table=table), *zip(*named, strict=True))
            found |= {(table, row["studio_id"], row["id"]) for row in rows}
    return found


_STORED = """
SELECT t.studio_id, t.id FROM {table} t
WHERE (t.studio_id, t.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""


def _unknown_reference(importer: Importer, line: Line, known: set[Key], stored: set[Key]) -> str | None:
    for field, table in importer.refers_to.items():
        named = line.row.get(field)
        key = table, line.studio_id, str(named)
        if named is not None and key not in known and key not in stored:
            return unknown_reference(field, named, table)
    return None


class _Taken:
    """Which row has each value: those of stored rows, then those of accepted lines."""

    def __init__(self, unique: Unique, lines: Sequence[Line]) -> None:
        self.unique = unique
        self._holders: dict[tuple[str, ...], str] = {}
        self._values: dict[tuple[str, str], tuple[str, ...]] = {}
        self._to_come = {line.key: unique.value_of(line.row) for line in lines} if unique.exchange else {}

    @classmethod
    async def read(cls, conn: Connection, table: str, unique: Unique, lines: Sequence[Line]) -> "_Taken":
        """The rows with these ids and those with these values, each found by an index of its own."""
        names = ["studio_id", "id", *unique.fields, *(["status"] if unique.statuses else [])]
        rows = f"SELECT {', '.join(f't.{name}' for name in names)} FROM given n JOIN {table} t ON "  # noqa: S608
        same = " AND ".join(f"t.{name} = n.{name}" for name in ("studio_id", *unique.fields))
        counts = unique.where
        if unique.statuses:
            # Written out, so that the index of these statuses is used.
            counts += f" AND t.status IN ({', '.join(map(repr, map(str, unique.statuses)))})"
        sql = f"""
WITH given AS MATERIALIZED (SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1))
{rows} {same} WHERE {counts} UNION {rows} t.studio_id = n.studio_id AND t.id = n.id WHERE {counts}
"""  # noqa: S608
        taken = cls(unique, lines)
        for row in await conn.fetch(sql, [{name: line.row.get(name) for name in names} for line in lines]):
            taken.take(dict(row))
        return taken

    def refusal(self, line: Line) -> str | None:
        value = self.unique.value_of(line.row)
        holder = self._holders.get(value) if value else None
        if value is None or holder in (None, line.row["id"]):
            return None
        if self._to_come.get((line.studio_id, str(holder)), value) != value:
            return None
        return self.unique.reason or already_taken(self.unique.fields[-1], value[-1])

    def take(self, row: Row) -> None:
        """The row gives up the value that it had."""
        key = row["studio_id"], row["id"]
        before, value = self._values.pop(key, None), self.unique.value_of(row)
        if before is not None and self._holders[before] == row["id"]:
            del self._holders[before]
        if value is not None:
            self._values[key] = value
            self._holders[value] = row["id"]
