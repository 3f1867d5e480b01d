"""Every committed event is in an outbox or in the log. Overdue ones are reported, lost ones sent again."""

import asyncio
from collections.abc import Sequence

import aio_pika
from prometheus_client import REGISTRY

from shared.db.database import Database
from shared.events.bus import (
    EVENT_LOG,
    NEW_MEMBERS,
    Message,
    ParkedMessage,
    Poison,
    Queue,
    QueueDepth,
)
from shared.events.bus.rabbit import RabbitBus
from shared.events.parked_looks import ParkedLooks
from shared.events.reconcile import Reconciler
from shared.events.relay import Relay
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.shared.events.staged_bus import StagedBus, event, relay, states, until_idle, write


class ParkingBus(StagedBus):
    """Also tells what is parked."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        return [ParkedMessage(one, "booking.created", "why", b"") for one in self.kept]


def counted(state: str) -> float | None:
    return REGISTRY.get_sample_value("studio_outbox_events", {"service": "bookings", "state": state})


def reconciler_of(one: Relay, looks: int = 1) -> Reconciler:
    return Reconciler(
        one.database,
        one.bus,
        one.leases,
        service="bookings",
        queue=EVENT_LOG,
        overdue_seconds=0.05,
        parked_looks=ParkedLooks(one.bus, EVENT_LOG, looks=looks, spread_seconds=0),
    )


async def test_every_unacknowledged_event_is_counted_and_a_lost_parked_one_is_sent_again(
    db: Database,
) -> None:
    """Waiting, in flight or parked; a row that says parked without such a message is sent again."""
    bus = ParkingBus()
    one = await relay(db, bus)
    await write(db, [event(new_id(), 1) for _ in range(4)])
    await until_idle(one)
    await bus.acknowledge(bus.confirmed[0])
    await bus.acknowledge(*bus.confirmed[1:3], parked=True)
    bus.kept = [bus.confirmed[1].id]
    await write(db, [event(new_id(), 1)])
    reconciler = reconciler_of(one)
    await asyncio.sleep(0.1)
    await reconciler.step()
    assert [counted(state) for state in ("waiting", "in_flight", "parked")] == [1, 1, 2]
    assert counted("overdue") == 2
    found = await states(db)
    assert (found.waiting, found.in_flight, found.parked) == (2, 1, 1), "one was mended"
    await until_idle(one)
    assert bus.ids.count(bus.confirmed[2].id) == 2
    assert bus.ids.count(bus.kept[0]) == 1
    await one.stop()


async def test_a_parked_message_that_another_listing_has_taken_is_not_missing(db: Database) -> None:
    """Only a message that several looks miss is sent again: copies of parked events would multiply."""
    bus = ParkingBus()
    one = await relay(db, bus)
    await write(db, [event(new_id(), 1)])
    await until_idle(one)
    await bus.acknowledge(*bus.confirmed, parked=True)
    reconciler = reconciler_of(one, looks=3)
    await asyncio.sleep(0.1)
    for kept in ([], [], bus.ids, [], []):
        bus.kept = list(kept)
        await reconciler.step()
        assert (await states(db)).parked == 1
    await reconciler.step()
    assert (await states(db)).waiting == 1, "missed three times in a row"
    await one.stop()


async def test_a_listing_hides_messages_from_another_one(amqp_url: str) -> None:
    """On a real broker, and from a count as well; together, two looks find everything."""
    bus = await RabbitBus(amqp_url, partitions=1).connect()

    async def refuse(messages: Sequence[Message]) -> None:
        raise Poison("never")

    await bus.subscribe(NEW_MEMBERS, refuse)
    await bus.publish(Message("m1", "member.created", b"{}"), NEW_MEMBERS)

    async def listed() -> bool:
        return bool(await bus.parked(NEW_MEMBERS, 10))

    await eventually(listed)
    looks = ParkedLooks(bus, NEW_MEMBERS, looks=2, spread_seconds=0)
    async with await aio_pika.connect(amqp_url) as connection, connection.channel() as channel:
        parked = await channel.get_queue(NEW_MEMBERS.parked)

        async def taken() -> object:
            return await parked.get(fail=False)

        await eventually(taken)
        one_look = await ParkedLooks(bus, NEW_MEMBERS, looks=1, spread_seconds=0).look(1)
        assert one_look is not None and one_look.ids == frozenset(), "control: it is hidden"
        assert (await bus.depth(NEW_MEMBERS)).parked == 0, "control: it is not counted"
        assert await looks.look(1) is None
    await eventually(listed)

    async def found() -> bool:
        present = await looks.look(1)
        return present is not None and present.ids == {"m1"}

    await eventually(found)
    await bus.close()


async def test_the_age_is_reported_while_nobody_relays(db: Database) -> None:
    """An older version relays, or no replica reaches the broker: the alert must not fall silent."""
    one, other = await relay(db, ParkingBus()), await relay(db, ParkingBus())
    await write(db, [event(new_id(), 1)])
    reconciler = reconciler_of(one)
    await reconciler.step()
    assert counted("waiting") == 1
    assert REGISTRY.get_sample_value("studio_outbox_age_seconds", {"service": "bookings"})
    await other.leases.renew()
    await reconciler.step()
    assert counted("waiting") == 0, "the one that leases the partition reports"
    await other.stop()
    await one.stop()


class CountingBus(ParkingBus):
    """A producer's with its own broker user: it may count the event log's parked messages, not read them."""

    def lists_parked(self, queue: Queue) -> bool:
        return False

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        raise AssertionError("the broker refuses this")

    async def depth(self, queue: Queue) -> QueueDepth:
        return QueueDepth(queue.name, 0, len(self.kept))


async def test_a_producer_that_may_only_count_sends_its_parked_events_again_if_messages_are_missing(
    db: Database,
) -> None:
    """As many messages as rows: nothing is missing. One fewer: all its rows go out again."""
    bus = CountingBus()
    one = await relay(db, bus)
    await write(db, [event(new_id(), 1) for _ in range(2)])
    await until_idle(one)
    await bus.acknowledge(*bus.confirmed, parked=True)
    bus.kept = list(bus.ids)
    reconciler = reconciler_of(one)
    await asyncio.sleep(0.1)
    await reconciler.step()
    assert (await states(db)).parked == 2
    bus.kept.pop()
    await reconciler.step()
    assert ((await states(db)).parked, (await states(db)).waiting) == (0, 2)
    await one.stop()
