"""Each rule of the pipeline is needed: with the rule taken out, the scene that it exists for goes wrong."""

import asyncio
from collections.abc import Callable

import pytest

from shared.background import Loop, running
from shared.db.database import Connection, Database
from shared.events import relay as relay_module
from shared.events.bus import EVENT_LOG, Batch, Link, OnReply, Queue, Reply
from shared.events.bus.intake import Intake
from shared.events.outbox import POSITION, FloorBound, add_events
from shared.events.relay import Relay
from shared.wire import new_id
from tests.harness.databases import connected
from tests.shared.events.staged_bus import (
    Log,
    StagedBus,
    event,
    relay,
    until_empty,
    until_idle,
    versions,
    write,
)


class ReceivingBus(StagedBus):
    """Hands each batch to the receiving side, and the reply back. Either can get lost on the way."""

    def __init__(self, intake: Intake) -> None:
        super().__init__()
        self.intake = intake
        self.loses_batch: Callable[[Batch], bool] = lambda batch: False
        self.loses_reply: Callable[[Batch], bool] = lambda batch: False

    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        return ReceivingLink(self, on_reply)


class ReceivingLink:
    is_lost = False

    def __init__(self, bus: ReceivingBus, on_reply: OnReply) -> None:
        self._bus = bus
        self._on_reply = on_reply

    async def send(self, batch: Batch, *, again: bool = False) -> None:
        self._bus.batches.append(batch)
        if not self._bus.loses_batch(batch):
            [reply] = await self._bus.intake.take([batch])
            if not self._bus.loses_reply(batch):
                self._on_reply(reply)

    async def close(self) -> None:
        pass


class WithoutGapCheck(Intake):
    def _accept(self, batch: Batch) -> bool:
        return True


def the_first_time(number: int) -> Callable[[Batch], bool]:
    met: list[Batch] = []

    def loses(batch: Batch) -> bool:
        if batch.number == number:
            met.append(batch)
        return batch.number == number and len(met) == 1

    return loses


async def relayed(db: Database, one: Relay) -> None:
    async with running([Loop("relay", one.step, idle=0.02)]):
        await until_empty(db)


@pytest.mark.parametrize(("intake", "stored"), [(Intake, [1, 2, 3]), (WithoutGapCheck, [1, 3, 2])])
async def test_the_gap_check_keeps_the_order(db: Database, intake: type[Intake], stored: list[int]) -> None:
    """The second of three batches gets lost. Without the check, the third is stored before it."""
    log = Log()
    bus = ReceivingBus(intake(EVENT_LOG, log))
    bus.loses_batch = the_first_time(2)
    one = relay(db, bus, reply_seconds=0.3)
    for written in versions(3):
        await write(db, [written])
        await one.step()
    await relayed(db, one)
    assert list(log.versions.values()) == [stored]
    await one.stop()


@pytest.mark.parametrize(("once", "stored"), [(True, [1]), (False, [1, 1])])
async def test_the_duplicate_check_stores_an_event_once(db: Database, once: bool, stored: list[int]) -> None:
    """It comes again until there is a reply. A log that does not know it stores it twice."""
    log = Log(once=once)
    bus = ReceivingBus(Intake(EVENT_LOG, log))
    bus.loses_reply = the_first_time(1)
    one = relay(db, bus, reply_seconds=0.3)
    await write(db, versions(1))
    await relayed(db, one)
    assert list(log.versions.values()) == [stored]
    assert len(bus.batches) == 2
    await one.stop()


class HastyBound(FloorBound):
    """Takes the last id for the bound, whether its transaction has ended or not."""

    async def refresh(self, conn: Connection) -> int:
        row = await conn.fetchrow(POSITION)
        assert row is not None
        return int(row["last_id"])


@pytest.mark.parametrize("bound", [FloorBound, HastyBound])
async def test_a_row_that_commits_late_is_sent_because_the_floor_waits_for_its_transaction(
    db: Database, database_url: str, monkeypatch: pytest.MonkeyPatch, bound: type[FloorBound]
) -> None:
    """Ids are not in the order of the commits. Without the rule only the read of everything finds the row."""
    monkeypatch.setattr(relay_module, "BOUND_SECONDS", 0.0)
    monkeypatch.setattr(relay_module, "FloorBound", bound)
    bus = StagedBus(prompt=True)
    one = relay(db, bus)
    late = event(new_id(), 1)
    await until_idle(one)
    async with connected(database_url) as conn, conn.transaction():
        await conn.execute("SET search_path = bookings")
        await add_events(conn, [late])
        for _ in range(20):
            await write(db, [event(new_id(), 1)])
            await until_idle(one)
        assert len(bus.ids) == 20
    await until_idle(one)
    if bound is HastyBound:
        for _ in range(2):
            await until_idle(one)
        assert len(bus.ids) == 20 and late.id not in bus.ids
        one._read_all_at = 0.0
        for _ in range(2):  # The floors fall, and the next step reads.
            await until_idle(one)
    assert bus.ids[-1] == late.id
    await one.stop()


async def _everything() -> frozenset[int]:
    return EVENT_LOG.all_partitions


async def test_two_relays_that_hold_the_same_partitions_lose_and_reorder_nothing(db: Database) -> None:
    """Leases only balance the work. A replica may have been stopped while its leases expired."""
    log = Log()
    bus = ReceivingBus(Intake(EVENT_LOG, log))
    relays = [relay(db, bus), relay(db, bus)]
    for one in relays:
        one.leases.renew = _everything  # type: ignore[method-assign]
    resources = [(new_id(), new_id()) for _ in range(30)]
    async with running([Loop("relay", one.step, idle=0.005) for one in relays]), asyncio.timeout(60):
        for version in range(1, 21):
            await write(db, [event(id_, version, studio) for id_, studio in resources])
            await asyncio.sleep(0.005)
        await until_empty(db)
    for one in relays:
        await one.stop()
    assert log.versions == {id_: list(range(1, 21)) for id_, _ in resources}, "lost, twice or out of order"
    assert len(bus.ids) > 1.2 * 600, "the control: both send, so without leases the work is done about twice"


async def test_a_reply_during_any_await_of_a_step_loses_nothing(db: Database) -> None:
    """Replies, late ones and "start over" arrive while rows are read and deleted."""
    log = Log()
    intake = Intake(EVENT_LOG, log)
    bus = StagedBus()
    one = relay(db, bus, reply_seconds=0.2)
    resources = [(new_id(), new_id()) for _ in range(10)]
    taken = 0

    async def receive() -> None:
        nonlocal taken
        while True:
            await asyncio.sleep(0)
            if taken < len(bus.batches):
                batch = bus.batches[taken]
                taken += 1
                if taken % 7 == 0:
                    bus.say(Reply(batch.partition, batch.session, start_over=True))
                    continue
                [reply] = await intake.take([batch])
                if taken % 5:
                    bus.say(reply)

    receiving = asyncio.create_task(receive())
    async with running([Loop("relay", one.step, idle=0.01)]), asyncio.timeout(60):
        for version in range(1, 31):
            await write(db, [event(id_, version, studio) for id_, studio in resources])
        await until_empty(db)
    receiving.cancel()
    assert log.versions == {id_: list(range(1, 31)) for id_, _ in resources}
    await one.stop()
