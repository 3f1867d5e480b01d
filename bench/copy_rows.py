"""Copies table rows without knowing the columns, which differ from commit to commit."""

from collections.abc import Mapping
from typing import Any

import asyncpg

# Without identity and generated columns, which Postgres fills in itself.
COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND attgenerated = ''
ORDER BY attnum
"""
TABLES = """
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND a.attname = $2 AND NOT a.attisdropped
"""


async def columns_of(conn: "asyncpg.Connection[Any]", table: str) -> list[str]:
    return [row[0] for row in await conn.fetch(COLUMNS, table)]


async def tables_with(conn: "asyncpg.Connection[Any]", schema: str, column: str) -> list[str]:
    return [row[0] for row in await conn.fetch(TABLES, schema, column)]


async def copy_rows(
    conn: "asyncpg.Connection[Any]", table: str, source: str, changed: Mapping[str, str], *args: Any
) -> None:
    """`source` is the FROM clause, with the rows as `t`; `changed` has SQL for the columns that differ."""
    columns = await columns_of(conn, table)
    values = [changed.get(name, f't."{name}"') for name in columns]
    names = ", ".join(f'"{name}"' for name in columns)
    sql = f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM {source}"  # noqa: S608
    await conn.execute(sql, *args)
