"""Which lines are refused for an unknown reference, or for a value that another row of the studio has."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from shared.db.database import Connection
from shared.transfer.importing import Line, Refuse
from shared.transfer.lines import Earlier, already_taken, kind_of, unknown_reference


class Rule(Struct, frozen=True, kw_only=True):
    """`table` is where the lines are stored, if here. `refers_to` are tables by field.

    `unique` is a field that no two rows of a studio share.
    """

    line: type[Any]
    table: str | None = None
    refers_to: Mapping[str, str] = {}
    unique: str | None = None


Key = tuple[str, str, str]


class _Known(Struct):
    """Stored rows and accepted lines. Keys are a table, a studio and an id or a unique value."""

    ids: set[Key]
    owners: dict[Key, str]
    values: dict[Key, str]

    def add_value(self, table: str, studio_id: str, id_: str, value: str) -> None:
        """The row gives up the value that it had."""
        before = self.values.get((table, studio_id, id_))
        if before is not None:
            del self.owners[table, studio_id, before]
        self.values[table, studio_id, id_] = value
        self.owners[table, studio_id, value] = id_


def refuse_by(rules: Sequence[Rule]) -> Refuse:
    by_line = {rule.line: rule for rule in rules}
    tables = {kind_of(rule.line): rule.table for rule in rules}

    async def refuse(conn: Connection, lines: Sequence[Line], earlier: Sequence[Earlier]) -> dict[int, str]:
        known = await _read(conn, by_line, lines)
        known.ids |= {
            (table, line.studio_id, line.id) for line in earlier if (table := tables.get(line.kind))
        }
        reasons: dict[int, str] = {}
        for line in lines:
            if reason := _refusal(by_line[type(line.value)], line, known):
                reasons[line.number] = reason
        return reasons

    return refuse


def _refusal(rule: Rule, line: Line, known: _Known) -> str | None:
    """The first missing reference of a line is its reason."""
    for field, table in rule.refers_to.items():
        named = line.row.get(field)
        if named is not None and (table, line.studio_id, named) not in known.ids:
            return unknown_reference(field, named, table)
    if rule.table is None:
        return None
    id_ = line.row["id"]
    if rule.unique is not None and (value := line.row.get(rule.unique)) is not None:
        if known.owners.get((rule.table, line.studio_id, value), id_) != id_:
            return already_taken(rule.unique, value)
        known.add_value(rule.table, line.studio_id, id_, value)
    known.ids.add((rule.table, line.studio_id, id_))
    return None


async def _read(conn: Connection, rules: Mapping[type, Rule], lines: Sequence[Line]) -> _Known:
    """One query for each table that the lines refer to, and for each unique field that they set."""
    named: dict[str, set[tuple[str, str]]] = defaultdict(set)
    unique: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        rule = rules[type(line.value)]
        for field, table in rule.refers_to.items():
            if line.row.get(field) is not None:
                named[table].add((line.studio_id, line.row[field]))
        if rule.table is not None and rule.unique is not None:
            unique[rule.table, rule.unique].append(line)
    known = _Known(set(), {}, {})
    for table, keys in named.items():
        for row in await conn.fetch(_stored(table), *zip(*keys, strict=True)):
            known.ids.add((table, row["studio_id"], row["id"]))
    for (table, field), setting in unique.items():
        studios = [line.studio_id for line in setting]
        ids = [line.row["id"] for line in setting]
        values = [line.row.get(field) for line in setting]
        for row in await conn.fetch(_owners(table, field), studios, ids, values):
            known.add_value(table, row["studio_id"], row["id"], row["value"])
    return known


def _stored(table: str) -> str:
    return f"""
SELECT t.studio_id, t.id FROM {table} t
WHERE (t.studio_id, t.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""  # noqa: S608


def _owners(table: str, field: str) -> str:
    """The rows with these ids and those with these values, each found by an index of its own."""
    columns = f"SELECT t.studio_id, t.id, t.{field} AS value FROM {table} t"  # noqa: S608
    return f"""
{columns} WHERE (t.studio_id, t.id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
UNION {columns} WHERE (t.studio_id, t.{field}) IN (SELECT * FROM unnest($1::uuid[], $3::text[]))
"""  # noqa: S608
