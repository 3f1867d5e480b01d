"""What a booking reads does not grow with the tables, though its plans were made while they were small."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.bookings.actions.decide_bookings import Deciding
from services.bookings.actions.idempotently import keyed
from services.bookings.actions.keep_statistics import keep_statistics
from services.bookings.context import Bookings
from services.bookings.store import booking_start, booking_write, statistics
from services.bookings.store.booking_start import Asked
from services.bookings.wire.bookings import BookingCreate
from shared.background import Wakeup
from shared.db.database import Connection, Database
from shared.wire import new_id
from tests.services.bookings.desk import Desk, a_class, a_member

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
async def desk(database_url: str) -> AsyncIterator[Desk]:
    """On one connection, which keeps its plans."""
    db = await Database.connect(database_url, "bookings", size=1)
    yield Desk.of_new_studio(Bookings(db=db, wakeup=Wakeup()))
    await db.close()


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator[Connection]:
    conn: Connection = await asyncpg.connect(database_url)
    for table in TABLES:
        await conn.execute(f"ALTER TABLE bookings.{table} SET (autovacuum_enabled = false)")
    yield conn
    await conn.close()


async def rows_read(desk: Desk, class_id: str, member_id: str) -> int:
    """By both halves of a booking, in the connection's kept plans."""
    caller, key = desk.caller, new_id()
    body = BookingCreate(class_id=class_id, member_id=member_id)
    async with desk.service.db.transaction() as conn:
        before = await conn.fetchval(READ, TABLES)
        asked = Asked(caller.studio_id, caller.client_id, key, class_id, member_id)
        ((_, facts),) = await booking_start.start(conn, [asked], patient=False)
        assert facts is not None
        decided = Deciding().decide(caller, keyed(key, "POST", "/bookings", body), body, facts)
        assert decided.answer.status == 201
        await booking_write.write(conn, [decided.outcome])
        return int(await conn.fetchval(READ, TABLES) - before)


@pytest.mark.parametrize("analyzed", [False, True], ids=["from_nothing", "from_a_few"])
async def test_a_table_that_has_grown_is_not_read_whole(
    desk: Desk, admin: Connection, *, analyzed: bool
) -> None:
    """Without the look at the tables it is: the first count shows it."""
    class_, people = a_class(capacity=99), [a_member() for _ in range(12)]
    await desk.loaded(class_, *people)
    if analyzed:
        await admin.execute("VACUUM ANALYZE bookings.classes, bookings.members")
    for person in people[2:]:
        assert (await desk.book(class_["id"], person["id"])).status == 201
    for insert in (CLASSES, MEMBERS):
        await admin.execute(insert, desk.caller.studio_id, ROWS)
    assert await rows_read(desk, class_["id"], people[0]["id"]) > ROWS
    await keep_statistics(desk.service)
    assert await rows_read(desk, class_["id"], people[1]["id"]) < 100


async def test_only_what_has_grown_is_looked_at(desk: Desk, admin: Connection) -> None:
    """Nothing while tables are small, and nothing the second time."""
    async with desk.service.db.connection() as conn:
        assert await statistics.analyze_grown(conn) == []
        await admin.execute(MEMBERS, desk.caller.studio_id, ROWS)
        assert await statistics.analyze_grown(conn) == ["bookings.members"]
        assert await statistics.analyze_grown(conn) == []
