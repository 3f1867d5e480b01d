"""SQL for import lines whose fields are named like a table's columns. One JSON parameter has all rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from shared.db.database import Connection
from shared.transfer.lines import Rows
from shared.transfer.refusals import Changed, Importer, Unique, Write

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
    """`version` never decreases. A new row gets its `instants`, so that it keeps its place in lists.

    `json` columns come as JSON in a text, which is stored as it is. A line may leave `optional` columns out,
    and those with `defaults`, which are never null: an existing row then keeps its values. `special` columns
    are taken over by a new row; an expression says how an existing row changes. They are not compared.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = _KEY
    json: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    defaults: Mapping[str, str] = {}
    special: Mapping[str, str] = {}
    same: tuple[str, ...] = ()
    instants: tuple[str, ...] = ("created_at",)

    def importer(
        self,
        line: type[Any],
        *,
        write: Write | None = None,
        refers_to: Mapping[str, str] = {},
        unique: tuple[Unique, ...] = (),
        rules: Mapping[str, str] = {},
    ) -> Importer:
        given = [f"(n.{name} IS NULL OR old.{name} = n.{name})" for name in self.defaults]
        changed = changed_rows(
            self.name,
            self.columns,
            key=self.key,
            json=self.json,
            optional=self.optional,
            more=[*self.same, *given],
        )
        return Importer(
            line=line,
            table=self.name,
            write=write or self.write,
            changed=changed,
            refers_to=refers_to,
            unique=unique,
            rules=rules,
        )

    async def write(self, conn: Connection, rows: Rows) -> None:
        values = {name: f"n.{name}" for name in (*self.key, *self.columns, *self.special)}
        values |= {name: f"(n.{name} #>> '{{}}')::json" for name in self.json}
        values |= {
            name: f"CASE WHEN line ? '{name}' THEN n.{name} ELSE old.{name} END" for name in self.optional
        }
        values |= {name: f"coalesce(n.{name}, old.{name}, {new})" for name, new in self.defaults.items()}
        values |= {name: f"coalesce(n.{name}, clock_timestamp())" for name in self.instants}
        changes = {name: f"excluded.{name}" for name in (*self.columns, *self.optional, *self.defaults)}
        changes |= self.special
        if "updated_at" in self.instants:
            changes["updated_at"] = "clock_timestamp()"
        await conn.execute(
            f"""
INSERT INTO {self.name} ({", ".join(values)}, version)
SELECT {", ".join(values.values())}, coalesce(n.version, 1)
FROM jsonb_array_elements($1) line CROSS JOIN LATERAL jsonb_populate_record(NULL::{self.name}, line) n
LEFT JOIN {self.name} old ON {" AND ".join(f"old.{name} = n.{name}" for name in self.key)}
ON CONFLICT ({", ".join(self.key)}) DO UPDATE SET
    {", ".join(f"{name} = {value}" for name, value in changes.items())},
    version = greatest(excluded.version, {self.name}.version + 1)
""",  # noqa: S608
            rows,
        )
