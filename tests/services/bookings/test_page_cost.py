"""A page costs the same wherever it is: the rows its plan reads are bounded by the page, not the table."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import combinations, product
from typing import Any

import msgspec
import pytest

from services.bookings.context import Bookings
from shared.db.database import Connection, Database
from shared.wire import new_id
from tests.harness.databases import connected
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking
from tests.services.bookings.test_lists import located

ROWS, LIMIT = 3_000, 10
PLACES = [new_id(), new_id(), new_id()]
# A limited key's page scans once per location and status: 3 × 6 scans of a page and one row each.
MOST_ROWS = 3 * 6 * (LIMIT + 1)
# Every instructor, type and room has classes at every location, so a scan would meet the others' too.
INSTRUCTORS, TYPES, ROOMS = ([new_id(), new_id()] for _ in range(3))
CLASS_FILTERS = {"instructor_id": INSTRUCTORS[1], "class_type_id": TYPES[1], "room_id": ROOMS[1]}
COMBINATIONS = [
    {name: CLASS_FILTERS[name] for name in names}
    for count in (1, 2, 3)
    for names in combinations(CLASS_FILTERS, count)
]


class Explaining(Database):
    """Runs each page's statement again under EXPLAIN ANALYZE and keeps its plan."""

    plans: list[Any]

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with super().connection() as conn:
            yield _Explained(conn, self.plans)  # type: ignore[misc]


class _Explained:
    def __init__(self, conn: Any, plans: list[Any]) -> None:
        self._conn = conn
        self._plans = plans

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)

    async def fetch(self, sql: str, *args: Any) -> Any:
        await self._explain(sql, *args)
        return await self._conn.fetch(sql, *args)

    async def fetchrow(self, sql: str, *args: Any) -> Any:
        await self._explain(sql, *args)
        return await self._conn.fetchrow(sql, *args)

    async def _explain(self, sql: str, *args: Any) -> None:
        text = await self._conn.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", *args)
        self._plans.append(msgspec.json.decode(text)[0]["Plan"])


def rows_read(plan: dict[str, Any]) -> int:
    """Rows that scans touched, filtered ones included."""
    loops = plan["Actual Loops"]
    mine = 0
    if plan["Node Type"].endswith("Scan") and "Relation Name" in plan:
        mine = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * loops
    return int(mine) + sum(rows_read(child) for child in plan.get("Plans", []))


async def fill(client: StudioClient) -> None:
    """Thousands of rows: one member's bookings and purchases are most of them."""
    everyone, pack = [a_member() for _ in range(20)], a_product(1)
    await client.import_all(*located(*PLACES), pack, *everyone)
    await client.import_all(*(a_member() for _ in range(1000)))
    classes = [
        a_class(
            location_id=PLACES[n % 3],
            start_time=soon(minutes=n + 60),
            # Full where somebody waits: a free seat would be given to them.
            capacity=1 if n % 25 == 0 else 5,
            instructor_id=INSTRUCTORS[n % 5 == 0],
            class_type_id=TYPES[n % 4 == 0],
            room_id=ROOMS[n % 2 == 0],
        )
        for n in range(ROWS // 2)
    ]
    for start in range(0, len(classes), 500):
        await client.import_all(*classes[start : start + 500])
    base = soon(days=-30)
    lines = []
    for n in range(ROWS):
        member_id, at = everyone[n % 20]["id"], base + timedelta(seconds=n)
        status = "waitlisted" if n % 50 == 1 else "confirmed"
        lines.append(a_booking(classes[n // 2]["id"], member_id, status=status, created_at=at))
        lines.append(a_purchase(member_id, pack, location_id=PLACES[n % 3], created_at=at))
    for start in range(0, len(lines), 2000):
        await client.import_all(*lines[start : start + 2000])


@asynccontextmanager
async def explained(
    client: StudioClient, database_url: str
) -> AsyncIterator[tuple[Explaining, tuple[StudioClient, StudioClient]]]:
    """The database that keeps the plans, and two callers of it: one sees everything, one its locations."""
    async with connected(database_url) as admin:
        await admin.execute("ANALYZE")
    db = await Explaining.connect(database_url, "bookings", size=1)
    assert isinstance(db, Explaining)
    db.plans = []
    watched = StudioClient(Bookings(db=db, wakeup=client.service.wakeup), client.caller)
    limited = StudioClient(watched.service, client.with_key(locations=tuple(PLACES)).caller)
    try:
        yield db, (watched, limited)
    finally:
        await db.close()


PAGES: list[tuple[str, dict[str, Any]]] = [
    ("/bookings", {}),
    ("/bookings", {"status": "waitlisted"}),
    ("/bookings", {"status": "confirmed"}),
    ("/waitlist", {}),
    ("/waitlist", {"status": "waiting"}),
    ("/purchases", {}),
    ("/classes", {}),
    ("/classes", {"status": "scheduled"}),
    ("/classes", {"location_id": PLACES[0]}),
    *(
        ("/classes", chosen | more)
        for chosen in COMBINATIONS
        for more in ({}, {"status": "scheduled"}, {"location_id": PLACES[0]})
    ),
]


async def look_ups(client: StudioClient) -> list[tuple[str, dict[str, Any], int]]:
    """Ids, an email and a range of class starts, with the rows that each may read."""
    last = (await client.list_all("/classes", limit=200))[-100:]
    member = (await client.get_ok("/members"))["data"][7]
    named = ",".join(class_["id"] for class_ in last)
    ranged = {"starts_after": last[0]["start_time"], "starts_before": last[20]["start_time"]}
    return [
        ("/classes", {"ids": named}, 100),
        ("/classes", {"ids": named, "limit": 1}, 100),
        ("/classes", {"ids": ",".join(new_id() for _ in range(100)), "limit": 1}, 0),
        ("/classes", {"ids": named, "instructor_id": INSTRUCTORS[1], "limit": 1}, 100),
        ("/members", {"email": member["email"]}, 1),
        ("/members", {"email": "nobody@example.com"}, 0),
        # 20 classes with two bookings each, and the position of each one that waits.
        ("/bookings", ranged, 20 + 40 + 2),
        ("/bookings", {**ranged, "status": "waitlisted", "limit": 1}, 20 + 40 + 2),
    ]


async def most_read(db: Explaining, caller: StudioClient, path: str, **query: Any) -> tuple[int, int]:
    """How many rows a page shows, and how many its dearest statement read."""
    db.plans.clear()
    page = await caller.get_ok(path, **query)
    return len(page["data"]), max(rows_read(plan) for plan in db.plans)


@pytest.mark.timeout(240)
async def test_a_page_reads_what_it_shows_wherever_it_is(client: StudioClient, database_url: str) -> None:
    """Every list, limited or not, filtered or not, at its first and last page. A look-up reads what it names.

    One test for both, because the studio takes long to fill.
    """
    await fill(client)
    async with explained(client, database_url) as (db, callers):
        for path, query in PAGES:
            last = (await client.list_all(path, limit=200, **query))[-LIMIT - 1]["id"]
            for caller, cursor in product(callers, (None, last)):
                shown, read = await most_read(db, caller, path, limit=LIMIT, cursor=cursor, **query)
                assert shown == LIMIT
                assert read <= MOST_ROWS + LIMIT + 1, (path, query, cursor, read, db.plans)
        for path, query, most in await look_ups(client):
            for caller in callers:
                _, read = await most_read(db, caller, path, **query)
                assert read <= most, (path, query, read, db.plans)
