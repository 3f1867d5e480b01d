"""What a booking or an import reads does not grow with the tables, though its plans were made while small."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from services.bookings.actions.decide_bookings import BatchDecider
from services.bookings.context import Bookings
from services.bookings.store import claim_and_lock, import_shown, insert_bookings
from services.bookings.store.claim_and_lock import ClaimRequest
from services.bookings.store.import_seats import analyze_grown
from services.bookings.wire.bookings import BookingCreate
from shared.background import Wakeup
from shared.db.database import Connection
from shared.http.idempotency.once import idempotent_request
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.harness.databases import connected
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient

ROWS = 5_000
TABLES = ("classes", "members", "bookings", "idempotency_keys")
CLASSES = """
INSERT INTO bookings.classes
    (studio_id, id, title, start_time, end_time, capacity, allow_waitlist, status, visible)
SELECT $1, gen_random_uuid(), 'Flow', now() + interval '1 day', now() + interval '2 days', 5, true,
    'scheduled', true
FROM generate_series(1, $2)
"""
MEMBERS = """
INSERT INTO bookings.members (studio_id, id, name, first_name, last_name, created_at)
SELECT $1, gen_random_uuid(), 'Ada Byron', 'Ada', 'Byron', now() FROM generate_series(1, $2)
"""
READ = """
SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int FROM pg_stat_xact_user_tables
WHERE schemaname = 'bookings' AND relname = ANY ($1)
"""


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[StudioClient]:
    """On one connection, which keeps its plans."""
    db = await open_database(database_url, "bookings", size=1)
    yield StudioClient.for_new_studio(Bookings(db=db, wakeup=Wakeup()))
    await db.close()


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator[Connection]:
    async with connected(database_url) as conn:
        for table in TABLES:
            await conn.execute(f"ALTER TABLE bookings.{table} SET (autovacuum_enabled = false)")
        yield conn


async def rows_read(client: StudioClient, class_id: str, member_id: str) -> int:
    """Blocks read by both halves of a booking, with the connection's cached plans."""
    caller, key = client.caller, new_id()
    body = BookingCreate(class_id=class_id, member_id=member_id)
    async with client.service.db.transaction() as conn:
        before = await conn.fetchval(READ, TABLES)
        request = ClaimRequest(caller.studio_id, caller.client_id, key, class_id, member_id, None)
        [found] = await claim_and_lock.claim_and_lock(conn, [request], wait=False)
        assert found.facts is not None
        request_once = idempotent_request(key, "POST", "/bookings", body)
        decided = BatchDecider().decide(caller, request_once, body, found.facts)
        assert decided.response.status == 201
        await insert_bookings.insert(conn, [decided.outcome])
        return int(await conn.fetchval(READ, TABLES) - before)


@pytest.mark.parametrize("analyzed", [False, True], ids=["from_nothing", "from_a_few"])
async def test_a_table_that_has_grown_is_not_scanned(
    client: StudioClient, admin: Connection, *, analyzed: bool
) -> None:
    """The first count shows that it would be without the ANALYZE that each import ends with."""
    class_, people = await client.open_class(people=12, capacity=99)
    if analyzed:
        await admin.execute("VACUUM ANALYZE bookings.classes, bookings.members")
    for person in people[2:]:
        assert (await client.book(class_["id"], person["id"])).status == 201
    for insert in (CLASSES, MEMBERS):
        await admin.execute(insert, client.caller.studio_id, ROWS)
    assert await rows_read(client, class_["id"], people[0]["id"]) > ROWS
    await client.import_all(a_member())
    assert await rows_read(client, class_["id"], people[1]["id"]) < 100


STORED, LINES = 4_000, 200
# One comparison of every line with every row would be 800,000.
MOST_WORK = 10 * (STORED + LINES)
BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, status, created_at, updated_at)
SELECT studio_id, gen_random_uuid(), id, $2, 'waitlisted', now(), now() FROM classes WHERE studio_id = $1
"""
ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, position, status, created_at,
    updated_at)
SELECT studio_id, gen_random_uuid(), class_id, member_id, id, 1, 'waiting', now(), now()
FROM bookings WHERE studio_id = $1
"""
NAMED = "SELECT studio_id, id, class_id FROM bookings WHERE studio_id = $1 ORDER BY id LIMIT $2"


def work(plan: dict[str, Any]) -> int:
    """Rows that a plan's nodes returned or removed."""
    removed = sum(value for name, value in plan.items() if name.startswith("Rows Removed by"))
    mine = int((plan["Actual Rows"] + removed) * plan["Actual Loops"])
    return mine + sum(work(child) for child in plan.get("Plans", []))


async def work_of(conn: Connection, statement: str, *arguments: Any) -> int:
    plan = await conn.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", *arguments)
    return work(msgspec.json.decode(plan)[0]["Plan"])


async def test_import_lines_are_not_compared_with_every_row(client: StudioClient) -> None:
    """A batch of bookings in a large studio, each with its entry on the waitlist."""
    studio_id, person = client.caller.studio_id, a_member()
    await client.import_all(a_class(), person)
    async with client.service.db.transaction() as conn:
        await conn.execute(CLASSES, studio_id, STORED)
        await conn.execute(BOOKINGS, studio_id, person["id"])
        await conn.execute(ENTRIES, studio_id)
    async with client.service.db.connection() as conn:
        await analyze_grown(conn)
        lines = [dict(row) for row in await conn.fetch(NAMED, studio_id, LINES)]
        affected = [line | {"whole": False} for line in lines]
        assert await work_of(conn, import_shown.BOOKINGS, affected) < MOST_WORK
        assert await work_of(conn, import_shown.ENTRIES, affected) < MOST_WORK
        assert len(await import_shown.shown_bookings(conn, affected)) == LINES
        assert len(await import_shown.shown_entries(conn, affected)) == LINES
