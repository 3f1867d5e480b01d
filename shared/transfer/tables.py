"""SQL for import lines whose fields are named like a table's columns. One JSON parameter has all rows."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shared.db.database import Connection
from shared.transfer.importing import Changed, Rows

_KEY = ("studio_id", "id")


def changed_rows(
    table: str,
    columns: Sequence[str],
    *,
    key: Sequence[str] = _KEY,
    json: Sequence[str] = (),
    optional: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Changed:
    """Compares lines with stored rows in the database, without a lock or a write.

    Columns in `optional` are compared only where the line has them. `more` are conditions for "unchanged",
    in which `old` is the stored row, `n` the new one and `line` its JSON.
    """
    same = [f"old.{name} = n.{name}" for name in key]
    same += [f"old.{name} IS NOT DISTINCT FROM n.{name}" for name in columns if name not in json]
    same += [f"old.{name}::text IS NOT DISTINCT FROM n.{name} #>> '{{}}'" for name in json]
    same += [f"(NOT line ? '{name}' OR old.{name} IS NOT DISTINCT FROM n.{name})" for name in optional]
    sql = f"""
SELECT place - 1 AS place FROM jsonb_array_elements($1) WITH ORDINALITY AS l (line, place)
CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, line) n
WHERE NOT EXISTS (SELECT FROM {table} old WHERE {" AND ".join([*same, *more])})
"""  # noqa: S608

    async def changed(conn: Connection, rows: Rows) -> list[int]:
        return [row["place"] for row in await conn.fetch(sql, rows)]

    return changed


class Table(Struct, frozen=True, kw_only=True):
    """`created_at` is set once, so that a row keeps its place in lists, and `version` never decreases.

    `json` columns come as JSON in a text, which is stored as it is. `special` columns are taken over by a new
    row; an expression says how an existing row changes. They are not compared.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = _KEY
    json: tuple[str, ...] = ()
    special: Mapping[str, str] = {}
    same: tuple[str, ...] = ()
    has_updated_at: bool = False

    @property
    def changed(self) -> Changed:
        return changed_rows(self.name, self.columns, key=self.key, json=self.json, more=self.same)

    async def write(self, conn: Connection, rows: Rows) -> None:
        plain = (*self.key, *self.columns, *self.special)
        values = [f"(n.{name} #>> '{{}}')::json" if name in self.json else f"n.{name}" for name in plain]
        instants = ["created_at", "updated_at"] if self.has_updated_at else ["created_at"]
        values += [f"coalesce(n.{name}, clock_timestamp())" for name in instants]
        changes = {name: f"excluded.{name}" for name in self.columns} | dict(self.special)
        if self.has_updated_at:
            changes["updated_at"] = "clock_timestamp()"
        await conn.execute(
            f"""
INSERT INTO {self.name} ({", ".join([*plain, *instants])}, version)
SELECT {", ".join(values)}, coalesce(n.version, 1) FROM jsonb_populate_recordset(NULL::{self.name}, $1) n
ON CONFLICT ({", ".join(self.key)}) DO UPDATE SET
    {", ".join(f"{name} = {value}" for name, value in changes.items())},
    version = greatest(excluded.version, {self.name}.version + 1)
""",  # noqa: S608
            rows,
        )
