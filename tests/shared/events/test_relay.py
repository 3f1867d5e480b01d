"""The relay: nothing is lost, a resource's events stay in order, and a row goes once the event log has it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from shared.background import Loop, running
from shared.db.database import Database
from shared.events import relay as relay_module
from shared.events.bus import Reply, Stored
from shared.events.outbox import PARTITIONS, partition_of
from shared.events.relay import Relay
from shared.events.session import WINDOW
from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.eventually import until
from tests.shared.events.staged_bus import STUDIO, StagedBus, event, left, relay, until_idle, versions, write


@pytest.fixture
def bus() -> StagedBus:
    return StagedBus()


@pytest.fixture
async def one(db: Database, bus: StagedBus) -> AsyncIterator[Relay]:
    """It sends to the bus."""
    made = relay(db, bus)
    yield made
    await made.stop()


async def test_a_row_stays_until_the_reply_and_is_deleted_by_it(
    db: Database, bus: StagedBus, one: Relay
) -> None:
    """What was sent is not sent again, and a reply deletes what it names and nothing else.

    In a restored database a row's id may be another event's.
    """
    await write(db, versions(5))
    await until_idle(one)
    await until_idle(one)
    [batch] = bus.batches
    assert len(batch.messages) == 5 and (await left(db)).waiting == 5
    bus.say(Reply(batch.partition, batch.session, [Stored(batch.messages[0].row_id, new_id())]))
    await one.step()
    assert (await left(db)).waiting == 5
    bus.say(Reply(batch.partition, batch.session, [Stored(m.row_id, m.id) for m in batch.messages[:2]]))
    await one.step()
    assert (await left(db)).waiting == 3
    bus.reply(batch)
    await one.step()
    assert (await left(db)).waiting == 0
    assert len(bus.batches) == 1


async def _start_over(bus: StagedBus) -> None:
    batch = bus.batches[-1]
    bus.say(Reply(batch.partition, batch.session, start_over=True))


async def _lose_connection(bus: StagedBus) -> None:
    bus.links[-1].is_lost = True


@pytest.mark.parametrize("trouble", [_start_over, _lose_connection])
async def test_the_cure_is_a_new_session(db: Database, bus: StagedBus, one: Relay, trouble: "object") -> None:
    """What has no reply is sent again, before what was written since, under a new session."""
    events = versions(4)
    await write(db, events[:3])
    await until_idle(one)
    [first] = bus.batches
    bus.say(Reply(first.partition, first.session, [Stored(first.messages[0].row_id, first.messages[0].id)]))
    await trouble(bus)  # type: ignore[operator]
    await write(db, events[3:])
    await until_idle(one)
    again = bus.batches[1:]
    assert [message.id for batch in again for message in batch.messages] == [e.id for e in events[1:]]
    assert again[0].number == 1 and again[0].session != first.session


async def test_a_reply_to_an_earlier_session_still_counts(db: Database, bus: StagedBus, one: Relay) -> None:
    """What is stored is stored. But every batch of an abandoned session may be answered with "start over"."""
    await write(db, versions(2))
    await until_idle(one)
    await _start_over(bus)
    await until_idle(one)
    old, current = bus.batches
    bus.say(Reply(old.partition, old.session, start_over=True))
    await until_idle(one)
    assert len(bus.batches) == 2
    bus.reply(old)
    await one.step()
    assert (await left(db)).waiting == 0
    bus.reply(current)
    await until_idle(one)
    assert len(bus.batches) == 2


async def test_without_a_reply_only_the_oldest_batch_is_sent_again(db: Database) -> None:
    """A slow receiver is not buried in copies, and the number is the same, so that they do no harm.

    Also while replies to others come: its rows would wait, and take room in the window, until it is quiet.
    """
    bus = StagedBus()
    one = relay(db, bus, reply_seconds=0.2)
    for _ in range(3):
        await write(db, [event(new_id(), 1)])
        await until_idle(one)
    async with asyncio.timeout(20):
        async with running([Loop("relay", one.step, idle=0.02)]):
            await until(lambda: len(bus.batches) >= 5)
        assert [batch.number for batch in bus.batches[:5]] == [1, 2, 3, 1, 1]
        copies = len(bus.batches)
        while not any(batch.number == 1 for batch in bus.batches[copies:]):
            await write(db, [event(new_id(), 1)])
            await until_idle(one)
            bus.reply(*(batch for batch in bus.batches if batch.number > 1))
    assert len({batch.session for batch in bus.batches}) == 1
    await one.stop()


async def test_a_partition_without_replies_holds_nobody_else(
    db: Database, bus: StagedBus, one: Relay
) -> None:
    """Each partition has its own session and window, which bounds what is in flight.

    A backlog stays in Postgres: the broker stays shallow however long the event log is away.
    """
    await write(db, versions(WINDOW * 3))
    await until_idle(one)
    assert len(bus.ids) <= WINDOW
    other = next(studio for studio in iter(new_id, "") if partition_of(studio) != partition_of(STUDIO))
    late = event(new_id(), 1, other)
    await write(db, [late])
    await until_idle(one)
    assert bus.ids[-1] == late.id
    while (await left(db)).waiting:
        bus.reply(*bus.batches)
        await until_idle(one)
    assert len(set(bus.ids)) == WINDOW * 3 + 1


async def test_a_studios_backlog_does_not_hold_the_others_of_its_partition(
    db: Database, bus: StagedBus, one: Relay
) -> None:
    """An import of one studio leaves half of the window to its neighbours."""
    await write(db, versions(WINDOW * 8))
    await until_idle(one)
    neighbour = next(studio for studio in iter(new_id, "") if partition_of(studio) == partition_of(STUDIO))
    late = event(new_id(), 1, neighbour)
    await write(db, [late])
    rounds = 0
    while late.id not in bus.ids:
        bus.reply(*bus.batches[-2:])
        await until_idle(one)
        rounds += 1
        assert rounds <= 8, "behind the backlog"
    assert len(bus.ids) < WINDOW * 4, "the control: most of the backlog is still there"
    while (await left(db)).waiting:
        bus.reply(*bus.batches)
        await until_idle(one)
    assert len(set(bus.ids)) == len(bus.ids) == WINDOW * 8 + 1


async def test_deleted_rows_that_an_old_snapshot_keeps_are_not_read_again(
    db: Database, bus: StagedBus, one: Relay, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `pg_dump` keeps every deleted row in the index. The floor rises over them."""
    monkeypatch.setattr(relay_module, "BOUND_SECONDS", 0.0)
    bus.prompt = True
    async with connected(database_url) as snapshot, snapshot.transaction(isolation="repeatable_read"):
        await snapshot.fetchval("SELECT 1")
        for _ in range(10):
            await write(db, versions(WINDOW))
            await until_idle(one)
        for _ in range(5):
            await until_idle(one)
        session = one._sessions[partition_of(STUDIO)]
        async with db.connection() as conn:
            last = await conn.fetchval("SELECT pg_sequence_last_value('outbox_id_seq')")
        assert session.streams[0].floor == last


async def test_a_backlog_is_counted_with_its_age(db: Database) -> None:
    """For the metrics and `studioctl status`. After a minute an event is overdue."""
    await write(db, versions(3))
    async with db.connection() as conn:
        await conn.execute("UPDATE outbox SET created_at = created_at - interval '2 minutes' WHERE id = 1")
    found = await left(db)
    assert (found.waiting, found.overdue) == (3, 1)
    assert 119 < found.age_seconds < 180


@pytest.mark.timeout(120)
@pytest.mark.usefixtures("at_once")
async def test_a_relay_that_cannot_reach_the_bus_leaves_its_partitions_to_another(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It still reaches the database, so its leases would last for ever. Both share the work afterwards."""
    monkeypatch.setattr(relay_module, "UNABLE_SECONDS", 0.5)
    buses = [StagedBus(prompt=True), StagedBus(prompt=True)]
    relays = [relay(db, bus) for bus in buses]
    loops = [Loop(f"relay-{number}", one.step, idle=0.05) for number, one in enumerate(relays)]

    def shared() -> bool:
        return all(0 < len(one.leases.held) < PARTITIONS for one in relays)

    async with running(loops), asyncio.timeout(90):
        await until(shared)
        buses[0].is_away = True
        buses[0].links[-1].is_lost = True
        events = [event(new_id(), 1, studio_id=new_id()) for _ in range(40)]
        await write(db, events)
        await until(lambda: {one.id for one in events} <= set(buses[1].ids))
        assert not relays[0].leases.held
        buses[0].is_away = False
        await until(shared)
    for one in relays:
        await one.stop()
