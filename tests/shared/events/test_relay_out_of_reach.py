"""A relay that cannot reach the bus leaves its partitions to one that can."""

import asyncio

import pytest

from shared.background import Loop, running
from shared.db.database import Database
from shared.events.bus import EVENT_LOG, BusError, Message, Queue
from shared.wire import new_id
from tests.shared.events.staged_bus import StagedBus, event, relay, write

STUDIOS = 12


class CutOffBus(StagedBus):
    """A bus that can be out of reach."""

    cut_off = False

    async def ensure_connected(self) -> int:
        if self.cut_off:
            raise BusError("staged")
        return await super().ensure_connected()

    async def publish(
        self, message: Message, queue: Queue = EVENT_LOG, *, by_old_queue: bool = False
    ) -> None:
        if self.cut_off:
            raise BusError("staged")
        await super().publish(message, queue, by_old_queue=by_old_queue)


@pytest.mark.timeout(120)
async def test_a_relay_that_cannot_reach_the_bus_leaves_its_partitions_to_another(db: Database) -> None:
    """It still reaches the database, so its leases would last for ever. Both share the work afterwards."""
    buses = [CutOffBus(), CutOffBus()]
    relays = [await relay(db, bus) for bus in buses]
    loops = [Loop(f"relay-{number}", one.step, idle=0.05) for number, one in enumerate(relays)]

    async def shared() -> None:
        while not all(0 < len(one.leases.held) < buses[0].partitions for one in relays):
            await asyncio.sleep(0.05)

    async with running(loops), asyncio.timeout(90):
        await shared()
        buses[0].cut_off = True
        events = [event(new_id(), 1, studio_id=new_id()) for _ in range(STUDIOS)]
        await write(db, events)
        while {one.id for one in events} - {id_ for bus in buses for id_ in bus.ids}:
            await asyncio.sleep(0.05)
        assert not relays[0].leases.held
        buses[0].cut_off = False
        await shared()
    for one in relays:
        await one.stop()
