"""What the bus refuses rests for a while, and nothing else waits for it."""

import pytest

from shared.db.database import Database
from shared.events.buckets import bucket_of
from shared.events.bus import EVENT_LOG, BusError, Queue
from shared.events.event import EventResource
from shared.events.kinds import MemberCreated
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.shared.events.staged_bus import STUDIO, StagedBus, event, relay, states, until_idle, write


async def test_a_partition_that_the_bus_refuses_does_not_slow_the_others(db: Database) -> None:
    """A full queue may refuse for hours. Its rows rest, and no further step fails because of them."""
    bus = StagedBus()
    one = await relay(db, bus)
    refused = [event(new_id(), 1, studio_id=STUDIO) for _ in range(50)]
    bus.refuse = {one_event.id for one_event in refused}
    await write(db, refused)
    with pytest.raises(BusError):
        await one.step()
    others = [new_id() for _ in range(20)]
    others = [studio_id for studio_id in others if bucket_of(studio_id) != bucket_of(STUDIO)]
    for studio_id in others:
        sent = event(new_id(), 1, studio_id=studio_id)
        await write(db, [sent])
        await one.step()
        await until_idle(one)
        assert sent.id in bus.ids
    bus.refuse = set()

    async def all_published() -> bool:
        await one.step()
        return bus.unconfirmed == 0 and {one_event.id for one_event in refused} <= set(bus.ids)

    await eventually(all_published)
    await one.stop()


async def test_a_row_that_cannot_be_published_at_all_does_not_slow_the_others(db: Database) -> None:
    """For example of a kind that an older version does not know. It is tried again later."""

    def destination(topic: str) -> Queue:
        if topic == "booking.created":
            raise IndexError
        return EVENT_LOG

    bus = StagedBus()
    one = await relay(db, bus)
    one._publisher.destination = destination
    known = MemberCreated(studio_id=STUDIO, resource=EventResource("member", new_id(), 1), data={})
    await write(db, [event(new_id(), 1), known])
    await until_idle(one)
    assert bus.ids == [known.id]
    assert (await states(db)).in_flight == 2
    await one.stop()
