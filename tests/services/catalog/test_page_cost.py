"""A list page costs the same at the first row and at the last, as measured by the blocks that are read."""

import json
from typing import Any

import asyncpg
import pytest

from services.catalog.store import products, resources
from shared.db.database import service_url
from shared.http.pages import START
from shared.wire import new_id

ROWS = 20_000
LISTS = {
    "class_types": resources.CLASS_TYPES,
    "instructors": resources.INSTRUCTORS,
    "locations": resources.LOCATIONS,
    "rooms": resources.ROOMS,
    "rooms of one location": resources.ROOMS_OF_LOCATIONS,
    "products": products.PAGE,
}


@pytest.fixture
async def large_studio(database_url: str) -> tuple["asyncpg.Connection[Any]", str, str]:
    """A studio with many rows of each kind, made by the database itself for speed."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(
        service_url(database_url, "catalog"), server_settings={"search_path": "catalog"}
    )
    studio, place = new_id(), new_id()
    await conn.execute("INSERT INTO studios (id, name) VALUES ($1, 'Large')", studio)
    await conn.execute(
        "INSERT INTO locations VALUES ($1, $2, 'Here', '', '', 'UTC', true, true)", studio, place
    )
    each = "FROM generate_series(1, $2) n"
    at = "timestamptz '2026-01-01' + n * interval '1 second'"
    for table, columns in {
        "locations": f"gen_random_uuid(), 'L', '', '', 'UTC', true, false, {at}",
        "rooms": f"gen_random_uuid(), '{place}', 'R', 5, true, {at}",
        "class_types": f"gen_random_uuid(), 'C', null, null, null, {at}",
        "instructors": f"gen_random_uuid(), 'I', '', '{{}}', true, {at}",
        "products": f"gen_random_uuid(), n::text, 'P', 'package', true, true, 1, {at}",
    }.items():
        await conn.execute(f"INSERT INTO {table} SELECT $1, {columns} {each}", studio, ROWS)
        await conn.execute(f"ANALYZE {table}")
    return conn, studio, place


async def pages_read(conn: "asyncpg.Connection[Any]", sql: str, *args: Any) -> int:
    plan = json.loads(await conn.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *args))[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def test_a_page_costs_the_same_at_the_first_and_the_last_row(
    large_studio: tuple["asyncpg.Connection[Any]", str, str],
) -> None:
    """The last page of 20,000 rows reads no more blocks than the first one, up to a step of the index."""
    conn, studio, place = large_studio
    costs = {name: await first_and_last(conn, studio, place, name) for name in LISTS}
    await conn.close()
    assert {name: cost for name, cost in costs.items() if cost[1] > cost[0] + 6 or max(cost) >= 70} == {}


async def first_and_last(
    conn: "asyncpg.Connection[Any]", studio: str, place: str, name: str
) -> tuple[int, int]:
    table = name.split()[0]
    sql = LISTS[name]
    late = await conn.fetchrow(
        f"SELECT created_at, id FROM {table} WHERE studio_id = $1 "  # noqa: S608
        "ORDER BY created_at DESC, id OFFSET 60 LIMIT 1",
        studio,
    )
    assert late is not None
    costs = []
    for after in (START, (late["created_at"], late["id"])):
        args: list[Any] = [studio, *after, 51]
        if name == "products":
            args.insert(1, True)
        if name == "rooms of one location":
            args.append([place])
        costs.append(await pages_read(conn, sql, *args))
    return costs[0], costs[1]
