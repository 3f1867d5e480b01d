"""A relay stays fast while an old snapshot (a `pg_dump`) keeps all the rows that it has removed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest
from prometheus_client import REGISTRY

from shared.background import Loop, running
from shared.db.database import Connection, Database
from shared.events import lanes as lanes_module
from shared.events import outbox_rows, reconcile, sweep
from shared.events.backlog import BACKLOG, COUNTED
from shared.events.buckets import BUCKETS
from shared.events.bus import EVENT_LOG, BusError
from shared.events.lanes import Lanes
from shared.events.leases import Leases
from shared.events.outbox import add_event
from shared.events.outbox_look import LOOK
from shared.events.outbox_rows import CLAIM, PER_AGGREGATE, RETRY, WINDOW
from shared.events.reconcile import Reconciler
from shared.events.settled_ids import SettledIds
from shared.wire import new_id
from tests.harness.eventually import until
from tests.shared.events.staged_bus import StagedBus, event, relay, until_idle, write

ALL = list(range(BUCKETS))
GONE = 20_000
FILL = """
INSERT INTO outbox (event_id, type, aggregate, envelope, studio_id, bucket)
SELECT gen_random_uuid(), 'booking.created', 'booking:' || n, '{}', md5(n::text)::uuid, n % 64
FROM generate_series(1, $1::int) AS n
"""


@pytest.fixture
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call looks, however long the last one took."""
    for name, value in (("LOOK_EVERY", 0.0), ("LOOK_EVERY_IDLE", 0.0), ("LOOK_SHARE", float("inf"))):
        monkeypatch.setattr(lanes_module, name, value)


@asynccontextmanager
async def old_snapshot(database_url: str) -> AsyncIterator[None]:
    reader: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    async with reader.transaction(isolation="repeatable_read", readonly=True):
        await reader.fetchval("SELECT count(*) FROM bookings.outbox")
        yield
    await reader.close()


async def blocks_read(conn: Connection, sql: str, *args: Any) -> int:
    text = await conn.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *args)
    plan = msgspec.json.decode(text)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def push_through(conn: Connection, rows: int) -> None:
    """As they are written, claimed and acknowledged."""
    await conn.execute(FILL, rows)
    await conn.execute("UPDATE outbox SET sent_at = clock_timestamp()")
    await conn.execute("DELETE FROM outbox")


def reconciler_of(db: Database) -> Reconciler:
    leases = Leases(db, "relay", 4)
    return Reconciler(db, StagedBus(), leases, service="bookings", queue=EVENT_LOG)  # type: ignore[arg-type]


def waiting() -> float | None:
    return REGISTRY.get_sample_value("studio_outbox_events", {"service": "bookings", "state": "waiting"})


async def test_statements_do_not_read_the_rows_that_are_gone(
    db: Database, database_url: str, always_due: None
) -> None:
    """At 500 events/s a dump of two hours keeps 3.6 million of them."""
    lanes = Lanes("bookings")
    lanes.assign(ALL)
    statements: dict[str, Callable[[int], tuple[Any, ...]]] = {
        CLAIM: lambda start: (ALL, [], WINDOW, PER_AGGREGATE, 1, start, [], None, 0, timedelta(seconds=4)),
        LOOK: lambda start: (ALL, start, WINDOW, 2.0),
        RETRY: lambda start: (ALL, 30.0, WINDOW, start),
        BACKLOG: lambda start: (COUNTED, start),
        reconcile.OVERDUE: lambda start: (60.0, COUNTED, start),
        reconcile.UNPARK: lambda start: ([], 60.0, COUNTED, start),
    }
    async with old_snapshot(database_url), db.connection() as conn:
        await lanes.look(conn)
        await push_through(conn, GONE)
        await conn.execute(FILL, 5)
        await lanes.look(conn)
        [(_, start)] = lanes.starts()
        for sql, arguments in statements.items():
            assert await blocks_read(conn, sql, *arguments(0)) > 300, "the control: this is where they are"
            assert await blocks_read(conn, sql, *arguments(start)) < 60
        claimed, _ = await lanes.claim(conn, ALL, [], 256)
    assert len(claimed) == 3, "the others went while the blocks were counted"


async def test_ids_that_begin_again_are_read_from_the_beginning(
    db: Database, database_url: str, always_due: None
) -> None:
    """As in a database that was restored, or after a failover to a server that was behind."""
    lanes = Lanes("bookings")
    lanes.assign(ALL)
    reconciler = reconciler_of(db)
    async with db.connection() as conn:
        await push_through(conn, 100)
        await lanes.look(conn)
        await reconciler.step()
        admin: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
        await admin.execute("ALTER TABLE bookings.outbox ALTER COLUMN id RESTART WITH 1")
        await admin.close()
        await conn.execute(FILL, 3)
        await lanes.look(conn)
        await reconciler.step()
        assert waiting() == 3
        claimed, _ = await lanes.claim(conn, ALL, [], 256)
    assert [row["id"] for row in claimed] == [1, 2, 3]


async def test_figures_are_right_while_rows_come_and_go(db: Database) -> None:
    """The reconciler does not read where there were no rows before, and misses none."""
    reconciler = reconciler_of(db)
    async with db.pool.acquire() as slow, db.connection() as conn:
        await push_through(conn, 100)
        await reconciler.step()
        async with slow.transaction():
            await add_event(slow, event(new_id(), 1))
            await conn.execute(FILL, 3)
            for _ in range(3):
                await reconciler.step()
                assert waiting() == 3
        await reconciler.step()
        assert waiting() == 4, "it has the lowest id, and was committed last"


async def test_a_row_of_a_transaction_that_commits_late_is_claimed_at_once(
    db: Database, always_due: None
) -> None:
    """Ids are not commit-ordered. The control: a claim from the lowest row that was visible misses it."""
    lanes = Lanes("bookings")
    lanes.assign(ALL)
    async with db.pool.acquire() as slow, db.connection() as conn:
        transaction = slow.transaction()
        await transaction.start()
        late = event(new_id(), 1)
        await add_event(slow, late)
        for _ in range(3):
            await push_through(conn, 100)
            await lanes.look(conn)
        await conn.execute(FILL, 1)
        lowest = await conn.fetchval("SELECT min(id) FROM outbox")
        await lanes.look(conn)
        await transaction.commit()
        control = await outbox_rows.claim(conn, ALL, [], 256, lowest)
        assert late.id not in [row["event_id"] for row in control]
        claimed, _ = await lanes.claim(conn, ALL, [], 256)
    assert [row["event_id"] for row in claimed] == [late.id]


async def test_ids_are_settled_once_those_who_took_them_have_ended(db: Database) -> None:
    """Others who write in the meantime do not delay it, and readers do not matter."""
    settled = SettledIds()
    async with db.pool.acquire() as first, db.pool.acquire() as second, db.connection() as conn:
        before = await settled.refresh(conn)
        one, other = first.transaction(), second.transaction()
        await one.start()
        await add_event(first, event(new_id(), 1))
        assert await settled.refresh(conn) == before
        await other.start()
        await add_event(second, event(new_id(), 1))
        assert await settled.refresh(conn) == before
        await one.commit()
        assert await settled.refresh(conn) == before + 1, "the second one has an id that is not settled"
        await other.rollback()
        await settled.refresh(conn)
        assert await settled.refresh(conn) == before + 2


async def test_rows_that_fail_or_are_retried_are_read_again(
    db: Database, always_due: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim starts after the rows that are in flight, unless one of them is waiting again."""
    bus = StagedBus()
    one = await relay(db, bus, acknowledge_seconds=0.1)
    fails, lost, last = (event(new_id(), 1) for _ in range(3))
    bus.hold = {fails.id: asyncio.Event()}
    bus.refuse = {fails.id}
    await write(db, [fails, lost])
    await until_idle(one, held=1)
    await write(db, [last])
    await until_idle(one, held=1)
    monkeypatch.setattr(lanes_module, "LOOK_EVERY", 3600.0)
    monkeypatch.setattr(lanes_module, "LOOK_EVERY_IDLE", 3600.0)
    bus.hold[fails.id].set()
    await until(lambda: bus.unconfirmed == 0)
    with pytest.raises(BusError):
        await one.step()
    bus.refuse = set()
    async with running([Loop("relay", one.step, idle=0.05)]):
        await until(lambda: fails.id in bus.ids and bus.ids.count(lost.id) > 1)
    await one.stop()


async def test_a_row_that_is_no_longer_parked_is_found(
    db: Database, always_due: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id may be lower than all that the relay reads. It looks for such rows beside the claims."""
    monkeypatch.setattr(sweep, "SWEEP_EVERY", 0.1)
    bus = StagedBus()
    one = await relay(db, bus)
    parked = event(new_id(), 1)
    await write(db, [parked])
    await until_idle(one)
    await bus.acknowledge(*bus.confirmed, parked=True)
    await write(db, [event(new_id(), 1)])
    await until_idle(one)
    await one.step()
    async with db.connection() as conn:
        await conn.execute(
            "UPDATE outbox SET parked_at = NULL, sent_at = NULL WHERE event_id = $1", parked.id
        )
    async with running([Loop("relay", one.step, idle=0.05)]):
        await until(lambda: bus.ids.count(parked.id) > 1)
    await one.stop()
