"""The figures of an outbox cost the same however many events are waiting."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import msgspec
import pytest

from shared.db.database import Connection, Database
from shared.events import reconcile
from shared.events.backlog import BACKLOG, COUNTED, backlog
from shared.events.overdue import STUDIOS_OVERDUE
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.harness.eventually import eventually
from tests.shared.events.staged_bus import event, states, write

WAITING, STUDIOS = 100_000, 50
FILL = """
INSERT INTO bookings.outbox (event_id, type, aggregate, envelope, studio_id, created_at)
SELECT gen_random_uuid(), 'booking.created', 'booking:' || n, '{}', md5((n % $2)::text)::uuid,
       clock_timestamp() - interval '1 hour'
FROM generate_series(1, $1::int) AS n
"""
BLOCKS = "SELECT pg_relation_size('bookings.outbox') / current_setting('block_size')::int"


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await open_database(database_url, "bookings", size=2)
    yield database
    await database.close()


async def fill(database_url: str) -> int:
    """How many blocks the rows take. The server knows their number once the connection is closed."""
    admin: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await admin.execute(FILL, WAITING, STUDIOS)
    blocks = int(await admin.fetchval(BLOCKS))
    await admin.close()
    return blocks


async def blocks_read(conn: Connection, sql: str, *args: Any) -> int:
    text = await conn.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *args)
    plan = msgspec.json.decode(text)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def test_figures_read_a_bounded_part_of_the_outbox(db: Database, database_url: str) -> None:
    """Replicas compute them every 15 seconds, most of all while the event log is away."""
    statements: dict[str, tuple[Any, ...]] = {
        BACKLOG: (COUNTED, 0),
        reconcile.OVERDUE: (60.0, COUNTED, 0),
        reconcile.UNPARK: ([new_id()], 60.0, COUNTED, 0),
        STUDIOS_OVERDUE: (60.0, COUNTED, 20, 20),
    }
    blocks = await fill(database_url)
    async with db.connection() as conn:
        whole = await blocks_read(conn, "SELECT count(*) FROM outbox WHERE sent_at IS NULL")
        assert whole >= blocks, "the control: a plain count reads them all"
        read = {sql: await blocks_read(conn, sql, *args) for sql, args in statements.items()}
    assert all(count < blocks / 8 for count in read.values()), (blocks, read)


async def test_a_long_backlog_is_counted_by_the_statistics(db: Database, database_url: str) -> None:
    """About right, never below what was counted, and all of it waits: relays take only the oldest."""
    await fill(database_url)

    async def counted() -> bool:
        async with db.connection() as conn:
            found = await backlog(conn)
        assert found.waiting >= COUNTED and (found.in_flight, found.parked) == (0, 0)
        assert found.age_seconds > 3000
        return 0.9 * WAITING <= found.waiting <= 1.1 * WAITING

    assert await eventually(counted)


async def test_a_short_backlog_is_exact(db: Database) -> None:
    """Ids that were never used, or rows that are gone, do not count. Parked events have no age."""
    await write(db, [event(new_id(), 1) for _ in range(7)])
    async with db.connection() as conn:
        await conn.execute(
            "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT 1 OFFSET 3)"
        )
        await conn.execute("UPDATE outbox SET sent_at = now() WHERE id = (SELECT max(id) FROM outbox)")
    found = await states(db)
    assert (found.waiting, found.in_flight, found.parked) == (5, 1, 0)
    assert found.age_seconds > 0
    async with db.connection() as conn:
        await conn.execute("UPDATE outbox SET parked_at = now()")
    found = await states(db)
    assert (found.waiting, found.in_flight, found.parked, found.age_seconds) == (0, 0, 6, 0.0)
