"""A list page costs the same at the first row and at the last, as measured by the blocks that are read."""

from typing import Any

import asyncpg

from services.catalog.store import products, resources
from shared.db.database import service_url
from shared.http.pages import START
from shared.wire import new_id
from tests.harness.compressed_days import BlockCounter
from tests.harness.databases import connected

ROWS = 10_000
LISTS = {
    "class_types": resources.CLASS_TYPES,
    "instructors": resources.INSTRUCTORS,
    "locations": resources.LOCATIONS,
    "rooms": resources.ROOMS,
    "rooms of one location": resources.ROOMS_OF_LOCATIONS,
    "products": products.PAGE,
}


EACH = "FROM generate_series(1, $2) n"
AT = "timestamptz '2026-01-01' + n * interval '1 second'"


async def fill(conn: "asyncpg.Connection[Any]", studio: str, place: str) -> None:
    """Many rows of each kind, made by the database itself for speed."""
    await conn.execute("INSERT INTO studios (id, name) VALUES ($1, 'Large')", studio)
    await conn.execute(
        "INSERT INTO locations VALUES ($1, $2, 'Here', '', '', 'UTC', true, true)", studio, place
    )
    for table, columns in {
        "locations": f"gen_random_uuid(), 'L', '', '', 'UTC', true, false, {AT}",
        "rooms": f"gen_random_uuid(), '{place}', 'R', 5, true, {AT}",
        "class_types": f"gen_random_uuid(), 'C', null, null, null, {AT}",
        "instructors": f"gen_random_uuid(), 'I', '', '{{}}', true, {AT}",
        "products": f"gen_random_uuid(), n::text, 'P', 'package', true, true, 1, {AT}",
    }.items():
        await conn.execute(f"INSERT INTO {table} SELECT $1, {columns} {EACH}", studio, ROWS)
        await conn.execute(f"ANALYZE {table}")


async def test_a_page_costs_the_same_at_the_first_and_the_last_row(database_url: str) -> None:
    """The last page of 10,000 rows reads no more blocks than the first one, up to a step of the index."""
    studio, place = new_id(), new_id()
    async with connected(service_url(database_url, "catalog")) as conn:
        await fill(conn, studio, place)
        costs = {name: await first_and_last(conn, studio, place, name) for name in LISTS}
    assert {name: cost for name, cost in costs.items() if cost[1] > cost[0] + 6 or max(cost) >= 70} == {}


async def first_and_last(
    conn: "asyncpg.Connection[Any]", studio: str, place: str, name: str
) -> tuple[int, int]:
    table = name.split()[0]
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
        counter = BlockCounter(conn)
        await counter.fetch(LISTS[name], *args)
        costs.append(counter.blocks)
    return costs[0], costs[1]
