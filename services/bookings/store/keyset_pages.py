"""Keyset pagination. Each combination of filters is its own statement, so that each can use its own index.

One statement with `$3 IS NULL OR …` per filter would get one plan for all combinations: a scan.
"""

from typing import Any

import asyncpg
from msgspec import Struct

from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import JsonRows, resolve_cursor
from shared.wire import PageQuery


class ListedTable(Struct, frozen=True, kw_only=True):
    """A table that can be listed. None of this comes from a request."""

    table: str
    columns: str
    order: str = "created_at"
    statuses: tuple[str, ...] = ()
    located: bool = True
    # A boolean column that the index by location has after the status. Lists without a status choose one.
    part: str = ""


class LookUp(Struct, frozen=True):
    """Rows found singly: `column` is one of the ids that `sql` returns, `values` fill its placeholders."""

    column: str
    sql: str
    values: tuple[Any, ...]


class Filters(Struct, kw_only=True):
    """`narrow` filters and a `look_up` leave few rows (one class, one member). `where` has more conditions.
    `also` is one without a value.

    `indexed` filters may leave many: each combination of them has an index, which continues with location,
    status and the list's order.
    """

    narrow: dict[str, str | None] = {}
    indexed: dict[str, str | None] = {}
    look_up: LookUp | None = None
    status: str | tuple[str, ...] | None = None
    location_id: str | None = None
    where: list[tuple[str, Any]] = []
    also: str = ""


_JOINED = "convert_to(string_agg(shown.json, ','), 'UTF8')"


async def fetch_page(
    conn: Connection, caller: Caller, listed: ListedTable, filters: Filters, query: PageQuery
) -> list[dict[str, Any]]:
    """`limit + 1` rows: the extra one only shows that there are more."""
    sql, args = await _page_query(conn, caller, listed, filters, query.cursor, query.limit)
    rows = [dict(row) for row in await conn.fetch(sql, *args)]
    for row in rows:
        row.pop("sort_key", None)
        row.pop("sort_id", None)
    return rows


async def fetch_one(conn: Connection, caller: Caller, listed: ListedTable, id_: str) -> dict[str, Any]:
    """The columns of one row. Raises NotFound, also where the caller may not see its location."""
    columns = f"{listed.columns}, {'t.location_id' if listed.located else 'NULL::uuid'} AS row_location"
    sql = f"SELECT {columns} FROM {listed.table} t WHERE t.studio_id = $1 AND t.id = $2"  # noqa: S608
    row = await conn.fetchrow(sql, caller.studio_id, id_)
    if row is None or (listed.located and not caller.may_see(row["row_location"])):
        raise NotFound
    values = dict(row)
    del values["row_location"]
    return values


async def fetch_json_page(
    conn: Connection, caller: Caller, listed: ListedTable, filters: Filters, cursor: str | None, limit: int
) -> JsonRows:
    """The same for a table whose one column is `json`, as one value, which is faster to read than many."""
    sql, args = await _page_query(conn, caller, listed, filters, cursor, limit)
    row = await conn.fetchrow(f"SELECT {_JOINED}, count(*) FROM ({sql}) shown", *args)  # noqa: S608
    assert row is not None
    return JsonRows(row[0] or b"", row[1])


async def _page_query(
    conn: Connection, caller: Caller, listed: ListedTable, filters: Filters, cursor: str | None, limit: int
) -> tuple[str, list[Any]]:
    after = await _resolve(conn, caller, listed, cursor) if cursor is not None else None
    args: list[Any] = [caller.studio_id]

    def bind(value: Any) -> str:
        args.append(value)
        return f"${len(args)}"

    conditions = ["t.studio_id = $1"]
    sources: list[str] = []
    narrow = {column: value for column, value in filters.narrow.items() if value is not None}
    indexed = {column: value for column, value in filters.indexed.items() if value is not None}
    conditions += [f"t.{column} = {bind(value)}" for column, value in (narrow | indexed).items()]
    equal = " AND ".join(conditions)
    few = bool(narrow) or filters.look_up is not None
    if (look_up := filters.look_up) is not None:
        sources.append(f"({look_up.sql.format(*map(bind, look_up.values))}) AS wanted (id)")
        conditions.append(f"t.{look_up.column} = wanted.id")
    locations = _locations(caller, listed, filters)
    if locations is not None and few:
        conditions.append(f"t.location_id = ANY({bind(locations)}::uuid[])")
    elif locations is not None:
        sources.append(f"unnest({bind(locations)}::uuid[]) AS location (id)")
        conditions.append("t.location_id = location.id")
    if isinstance(filters.status, str):
        conditions.append(f"t.status = {bind(filters.status)}")
    elif filters.status is not None:
        sources.append(f"unnest({bind(filters.status)}::text[]) AS status (name)")
        conditions.append("t.status = status.name")
    elif (sources or indexed) and listed.statuses and not few:
        # The index has the status before the sort key: scan once per location and status, then merge.
        sources.append(f"unnest({bind(listed.statuses)}::text[]) AS status (name)")
        conditions.append("t.status = status.name")
    if listed.part and locations is not None and not few and filters.status is not None:
        sources.append("unnest('{f,t}'::boolean[]) AS part (is_set)")
        conditions.append(f"t.{listed.part} = part.is_set")
    conditions += [condition.format(bind(value)) for condition, value in filters.where]
    if filters.also:
        conditions.append(filters.also)
    if after is not None:
        conditions.append(f"(t.{listed.order}, t.id) > ({bind(after[0])}, {bind(after[1])})")
    ends = f"ORDER BY t.{listed.order}, t.id LIMIT {bind(limit + 1)}"
    if not sources and not indexed:
        scan = f"SELECT {listed.columns} FROM {listed.table} t WHERE {' AND '.join(conditions)} {ends}"  # noqa: S608
        return scan, args
    # Several scans are merged by their sort keys; a single scan does not need them.
    columns = f"{listed.columns}, t.{listed.order} AS sort_key, t.id AS sort_id"

    def merged(sources: list[str], *more: str) -> str:
        where = " AND ".join([*conditions, *more])
        scan = f"SELECT {columns} FROM {listed.table} t WHERE {where} {ends}"  # noqa: S608
        return f"SELECT page.* FROM {' CROSS JOIN '.join([*sources, f'LATERAL ({scan}) page'])}"  # noqa: S608

    scans = [merged(sources)]
    if indexed and locations is None and not few:
        everywhere = f"({_present_locations(listed, equal)}) AS location (id)"
        scans = [
            merged([everywhere, *sources], "t.location_id = location.id"),
            merged(sources, "t.location_id IS NULL"),
        ]
    rows = f"({' UNION ALL '.join(scans)}) page" if len(scans) > 1 else f"({scans[0]}) page"
    return f"SELECT * FROM {rows} ORDER BY page.sort_key, page.sort_id LIMIT ${len(args)}", args  # noqa: S608


def _present_locations(listed: ListedTable, equal: str) -> str:
    """The locations of the rows that the `indexed` filters leave: from one to the next along the index.

    A key without limits sees rows of every location, and the index has the location before the sort key.
    """
    following = (
        f"SELECT t.location_id FROM {listed.table} t WHERE {equal} {{}} ORDER BY t.location_id LIMIT 1"  # noqa: S608
    )
    first = following.format("AND t.location_id IS NOT NULL")
    after = following.format("AND t.location_id > present.id")
    return (
        f"WITH RECURSIVE present (id) AS (SELECT ({first}) UNION ALL "  # noqa: S608
        f"SELECT ({after}) FROM present WHERE present.id IS NOT NULL) "
        "SELECT id FROM present WHERE id IS NOT NULL"
    )


def _locations(caller: Caller, listed: ListedTable, filters: Filters) -> list[str] | None:
    if filters.location_id is not None:
        return [filters.location_id]
    if listed.located and caller.location_ids is not None:
        return sorted(set(caller.location_ids))
    return None


async def _resolve(
    conn: Connection, caller: Caller, listed: ListedTable, cursor: str | None
) -> asyncpg.Record | None:
    located = (
        "AND ($2::uuid[] IS NULL OR location_id = ANY($2))" if listed.located else "AND $2::uuid[] IS NULL"
    )
    sql = f"SELECT {listed.order}, id FROM {listed.table} WHERE studio_id = $1 {located} AND id = $3"  # noqa: S608
    permitted = list(caller.location_ids) if listed.located and caller.location_ids is not None else None
    return await resolve_cursor(conn, sql, cursor, caller.studio_id, permitted)
