"""Every committed event is in an outbox or in the log. Overdue ones are reported, lost ones sent again."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY

from shared.db.database import Database
from shared.events.bus import EVENT_LOG, ParkedMessage, Queue, QueueDepth
from shared.events.reconcile import Reconciler
from shared.events.relay import Relay
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.shared.events.staged_bus import StagedBus, event, relay, states, until_idle, write


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await open_database(database_url, "bookings", size=8)
    yield database
    await database.close()


class ParkingBus(StagedBus):
    """Also tells what is parked."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    async def parked(self, queue: Queue, limit: int) -> list[ParkedMessage]:
        return [ParkedMessage(one, "booking.created", "why", b"") for one in self.kept]


def counted(state: str) -> float | None:
    return REGISTRY.get_sample_value("studio_outbox_events", {"service": "bookings", "state": state})


def reconciler_of(one: Relay) -> Reconciler:
    return Reconciler(
        one.database, one.bus, one.leases, service="bookings", queue=EVENT_LOG, overdue_seconds=0.05
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
