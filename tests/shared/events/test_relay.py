"""The outbox relay: nothing is lost or reordered, and a row is deleted once the event log has it."""

import asyncio

import pytest

from shared.background import Loop, running
from shared.db.database import Database
from shared.events.bus import Acknowledgement, BusError
from shared.events.outbox import add_event
from shared.wire import new_id
from tests.shared.events.staged_bus import STUDIO, StagedBus, event, relay, states, until_idle, write


async def test_a_rolled_back_event_never_happened(db: Database) -> None:
    """The row is written in the same transaction as the change, and rolled back with it."""
    with pytest.raises(RuntimeError):
        async with db.transaction() as conn:
            await add_event(conn, event(new_id(), 1))
            raise RuntimeError("the booking failed")
    assert (await states(db)).waiting == 0


async def test_a_row_outlives_the_confirm_until_the_log_has_acknowledged_it(db: Database) -> None:
    """A confirm is only as good as the broker's disk. Failed rows wait; confirmed rows are in flight."""
    bus = StagedBus()
    one = await relay(db, bus)
    await write(db, [event(new_id(), 1) for _ in range(5)])
    bus.fail_next = 2
    with pytest.raises(BusError):
        await one.step()
    found = await states(db)
    assert (found.waiting, found.in_flight, found.parked) == (2, 3, 0)
    await until_idle(one)
    found = await states(db)
    assert (found.waiting, found.in_flight) == (0, 5)
    await bus.acknowledge(*bus.confirmed[:4])
    await bus.acknowledge(bus.confirmed[4], parked=True)
    found = await states(db)
    assert (found.waiting, found.in_flight, found.parked) == (0, 0, 1)
    await bus.acknowledge(bus.confirmed[4])
    assert (await states(db)).parked == 0, "sent back from the parked queue and logged"
    assert len(bus.ids) == len(set(bus.ids)) == 5
    await one.stop()


async def test_an_acknowledgement_of_another_event_removes_nothing(db: Database) -> None:
    """After a restore a row's number may be assigned again, so the event's id must match too."""
    bus = StagedBus()
    one = await relay(db, bus)
    await write(db, [event(new_id(), 1)])
    await until_idle(one)
    assert bus.settle is not None
    [sent] = bus.confirmed
    await bus.settle([Acknowledgement(sent.reference, new_id()), Acknowledgement("nonsense", sent.id)])
    assert (await states(db)).in_flight == 1
    await one.stop()


async def test_rows_that_stay_unacknowledged_are_published_again_by_themselves(db: Database) -> None:
    """A deleted queue loses its messages silently. Only the missing acknowledgement shows it."""
    bus = StagedBus()
    one = await relay(db, bus, acknowledge_seconds=0.2)
    lost, kept = event(new_id(), 1), event(new_id(), 1)
    await write(db, [lost, kept])
    loop = Loop("relay", one.step, idle=0.05)
    async with running([loop]), asyncio.timeout(20):
        while len(bus.ids) < 2:
            await asyncio.sleep(0.01)
        await bus.acknowledge(*[sent for sent in bus.confirmed if sent.id == kept.id])
        while bus.ids.count(lost.id) < 3:
            await asyncio.sleep(0.01)
    assert bus.ids.count(kept.id) == 1
    await one.stop()


async def test_after_a_new_connection_everything_in_flight_is_published_again_in_order(db: Database) -> None:
    """The broker may have lost its disk: what was not acknowledged goes before what was written since."""
    bus = StagedBus()
    one = await relay(db, bus)
    booking = new_id()
    events = [event(booking, version) for version in range(1, 5)]
    await write(db, events[:3])
    await until_idle(one)
    bus.confirmed.clear()
    bus.connection += 1
    await write(db, events[3:])
    await until_idle(one)
    assert bus.ids == [one_event.id for one_event in events]
    await one.stop()


@pytest.mark.parametrize("envelope", [b"{}", b"\xff\xfe", b"not an event"])
async def test_an_unreadable_row_does_not_stop_the_relay(db: Database, envelope: bytes) -> None:
    """It is published like the others, and the consumer parks it."""
    bus = StagedBus()
    one = await relay(db, bus)
    odd, even = event(new_id(), 1), event(new_id(), 1)
    await write(db, [odd, even])
    async with db.connection() as conn:
        await conn.execute(
            "UPDATE outbox SET envelope = $1, traceparent = 'nonsense' WHERE event_id = $2", envelope, odd.id
        )
    await until_idle(one)
    assert set(bus.ids) == {odd.id, even.id}
    await one.stop()


async def test_many_confirms_are_outstanding_but_one_per_aggregate(db: Database) -> None:
    """Order per aggregate holds: what failed is never overtaken by what came after it."""
    bus = StagedBus()
    one = await relay(db, bus)
    bookings = [new_id() for _ in range(10)]
    events = [event(booking, version) for version in range(1, 6) for booking in bookings]
    await write(db, events)
    stuck = events[10]
    bus.refuse = {stuck.id}
    with pytest.raises(BusError):
        await one.step()
    assert bus.most_unconfirmed == 10
    same = [e.id for e in events if e.resource.id == stuck.resource.id]
    assert [i for i in bus.ids if i in same] == same[:1], "those behind it stayed behind"
    bus.refuse = set()
    await until_idle(one)
    for booking in bookings:
        wanted = [e.id for e in events if e.resource.id == booking]
        assert [i for i in bus.ids if i in wanted] == wanted
    await one.stop()


async def test_a_hot_class_does_not_keep_the_others_waiting(db: Database) -> None:
    """3,000 events of one aggregate with a slow confirm: a later event of another is not delayed."""
    bus = StagedBus()
    one = await relay(db, bus)
    hot = new_id()
    await write(db, [event(hot, version) for version in range(3000)])
    other = event(new_id(), 1)
    await write(db, [other])
    async with db.connection() as conn:
        rows = await conn.fetch("SELECT event_id FROM outbox ORDER BY id LIMIT 3000")
    bus.slow = {row["event_id"]: 0.05 for row in rows}
    loop = Loop("relay", one.step, idle=0.05, wakeup=one.wakeup)
    async with running([loop]), asyncio.timeout(20):
        while other.id not in bus.ids:
            await asyncio.sleep(0.01)
    assert len(bus.ids) <= 40, "it did not wait for the hot one's batch"
    await one.stop()


async def test_a_row_committed_late_with_a_small_id_is_not_lost(db: Database) -> None:
    """Ids are not commit-ordered: the control shows the late row, which a cursor would have passed."""
    bus = StagedBus()
    one = await relay(db, bus)
    async with db.pool.acquire() as slow:
        transaction = slow.transaction()
        await transaction.start()
        late = event(new_id(), 1)
        await add_event(slow, late)
        early = event(new_id(), 1)
        await write(db, [early])
        await until_idle(one)
        assert bus.ids == [early.id], "control: the later id was published first"
        await transaction.commit()
    await until_idle(one)
    assert bus.ids == [early.id, late.id]
    await one.stop()


async def test_rows_of_the_previous_version_get_their_studio_and_bucket(db: Database) -> None:
    """It writes neither. The order within an aggregate must hold across both versions."""
    one = event(new_id(), 1)
    await write(db, [one])
    async with db.connection() as conn:
        await conn.execute(
            "INSERT INTO outbox (event_id, type, aggregate, envelope)"
            " SELECT event_id, type, aggregate, envelope FROM outbox"
        )
        await conn.execute(
            "INSERT INTO outbox (event_id, type, aggregate, envelope) VALUES ($1, 't', 'a', $2)",
            new_id(),
            b"\xff{",
        )
        rows = await conn.fetch("SELECT studio_id, bucket FROM outbox ORDER BY id")
    ours, older, unreadable = (tuple(row) for row in rows)
    assert ours == older
    assert ours[0] == STUDIO
    assert unreadable == (None, 0)


async def test_a_partition_leaves_the_old_queue_once_all_its_events_are_logged(db: Database) -> None:
    """What the older relay left there comes first: an acknowledgement shows that it is logged."""
    bus = StagedBus()
    bus.has_old_queue = True
    one = await relay(db, bus)
    booking = new_id()
    first, second, third, fourth = (event(booking, version) for version in range(1, 5))
    await write(db, [first, second])
    await until_idle(one)
    assert bus.by_old_queue == [first.id, second.id]
    await bus.acknowledge(bus.confirmed[0])
    await write(db, [third])
    await until_idle(one)
    assert bus.ids == [first.id, second.id], (
        "the second one is still in the old queue: nothing may overtake it"
    )
    await bus.acknowledge(bus.confirmed[1])
    await until_idle(one)
    await write(db, [fourth])
    await until_idle(one)
    assert bus.ids == [first.id, second.id, third.id, fourth.id]
    assert bus.by_old_queue == [first.id, second.id]
    await one.stop()


async def test_the_relay_survives_losing_its_connection(db: Database) -> None:
    """A database restart costs one step of the loop and no event."""
    bus = StagedBus()
    one = await relay(db, bus)
    await one.step()
    await write(db, [event(new_id(), 1)])
    async with db.connection() as conn:
        await conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'studio-bookings' AND pid <> pg_backend_pid()"
        )
    loop = Loop("relay", one.step, idle=0.05)
    async with running([loop]), asyncio.timeout(20):
        while not bus.ids:
            await asyncio.sleep(0.01)
    await one.stop()
