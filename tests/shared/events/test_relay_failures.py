"""Order per aggregate holds whatever fails, and whenever: nothing overtakes an event that was not sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from shared.db.database import Connection, Database
from shared.events import leases as leases_module
from shared.events import outbox_rows
from shared.events.bus import BusError
from shared.events.outbox_rows import CLAIM
from tests.harness.database_layout import open_database
from tests.harness.eventually import eventually, until
from tests.shared.events.staged_bus import StagedBus, order, relay, until_idle, versions, write

LOCK = "SELECT id FROM outbox WHERE event_id = $1 FOR UPDATE"
# Whether somebody waits for the end of this transaction.
IS_WAITED_FOR = "SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"


async def test_a_publish_that_fails_while_another_failure_is_recorded_is_not_forgotten(
    db: Database, database_url: str
) -> None:
    """Recording takes a statement. What fails during it is recorded too, before its aggregate goes on."""
    bus = StagedBus()
    one = await relay(db, bus)
    [first], events = versions(1), versions(2)
    bus.refuse = {first.id, events[0].id}
    bus.hold = {sent: asyncio.Event() for sent in bus.refuse}
    await write(db, [first, events[0]])
    admin: asyncpg.Connection[Any] = await asyncpg.connect(
        database_url, server_settings={"search_path": "bookings"}
    )
    await one.step()
    async with admin.transaction():
        await admin.execute(LOCK, first.id)
        bus.hold[first.id].set()
        await until(lambda: bus.unconfirmed == 1)
        step = asyncio.create_task(one.step())
        await eventually(lambda: admin.fetchval(IS_WAITED_FOR))
        bus.hold[events[0].id].set()
        await until(lambda: bus.unconfirmed == 0)
    await admin.close()
    with pytest.raises(BusError):
        await step
    await write(db, events[1:])
    bus.refuse = set()
    await until_idle(one)
    assert order(bus, events) == [1, 2]
    assert first.id in bus.ids
    await one.stop()


class InterruptedDatabase(Database):
    """Lets a held publish fail at the moment when the relay takes a connection for its next claim."""

    bus: StagedBus | None = None

    def connection(self) -> Any:
        return self._interrupted()

    @asynccontextmanager
    async def _interrupted(self) -> AsyncIterator[Connection]:
        if (bus := self.bus) is not None:
            self.bus = None
            for held in bus.hold.values():
                held.set()
            await until(lambda: bus.unconfirmed == 0)
        async with super().connection() as conn:
            yield conn


async def test_later_events_do_not_overtake_one_that_failed_just_before_the_claim(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its aggregate stays busy until the failed rows are waiting again."""
    # No heartbeat in between, which would take a connection too.
    monkeypatch.setattr(leases_module, "RENEW_SECONDS", 3600.0)
    monkeypatch.setattr(leases_module, "LEASE_SECONDS", 7200.0)
    monkeypatch.setattr(outbox_rows, "LEASE_LEFT", timedelta(hours=1))
    db = await open_database(database_url, "bookings", size=8, kind=InterruptedDatabase)
    assert isinstance(db, InterruptedDatabase)
    bus = StagedBus()
    one = await relay(db, bus)
    events = versions(2)
    bus.refuse = {events[0].id}
    bus.hold = {events[0].id: asyncio.Event()}
    await write(db, events[:1])
    await one.step()
    assert bus.unconfirmed == 1, "it did not wait for the slow one"
    await write(db, events[1:])
    db.bus = bus
    await one.step()
    assert db.bus is None and bus.ids == []
    bus.refuse = set()
    with pytest.raises(BusError):
        await one.step()
    await until_idle(one)
    assert order(bus, events) == [1, 2]
    await one.stop()
    await db.close()


class LossyDatabase(Database):
    """Its connection breaks once after a claim has committed, before the answer arrives."""

    breaks = False

    def connection(self) -> Any:
        return self._lossy()

    @asynccontextmanager
    async def _lossy(self) -> AsyncIterator["Connection | LossyConnection"]:
        async with super().connection() as conn:
            yield LossyConnection(self, conn) if self.breaks else conn


class LossyConnection:
    def __init__(self, database: LossyDatabase, conn: Connection) -> None:
        self._database = database
        self._conn = conn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)

    async def fetch(self, sql: str, *args: Any) -> list[Any]:
        rows: list[Any] = await self._conn.fetch(sql, *args)
        if sql == CLAIM and rows:
            self._database.breaks = False
            self._conn.terminate()
            raise asyncpg.ConnectionDoesNotExistError("the answer is lost")
        return rows


async def test_rows_of_a_claim_whose_answer_was_lost_are_published_before_later_ones(
    database_url: str,
) -> None:
    """It committed, so they are marked as in flight, but nobody publishes them."""
    db = await open_database(database_url, "bookings", size=8, kind=LossyDatabase)
    assert isinstance(db, LossyDatabase)
    bus = StagedBus()
    one = await relay(db, bus)
    events, slow = versions(3), versions(1)
    await write(db, slow)
    bus.hold = {slow[0].id: asyncio.Event()}
    await one.step()
    await write(db, events[:2])
    db.breaks = True
    with pytest.raises(asyncpg.ConnectionDoesNotExistError):
        await one.step()
    async with db.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM outbox WHERE sent_at IS NOT NULL") == 3
    await write(db, events[2:])
    await until_idle(one, held=1)
    assert order(bus, events) == [1, 2, 3]
    bus.hold[slow[0].id].set()
    await until(lambda: slow[0].id in bus.ids)
    await until_idle(one)
    assert order(bus, slow) == [1], "it was being published: nothing of it is unknown"
    await one.stop()
    await db.close()
