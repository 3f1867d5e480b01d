"""A relay that cannot reach the bus leaves its partitions to one that can."""

import asyncio

import pytest

from shared.background import Loop, running
from shared.db.database import Database
from shared.events.outbox import PARTITIONS
from shared.wire import new_id
from tests.shared.events.staged_bus import StagedBus, event, relay, write

STUDIOS = 40


@pytest.mark.timeout(120)
async def test_a_relay_that_cannot_reach_the_bus_leaves_its_partitions_to_another(db: Database) -> None:
    """It still reaches the database, so its leases would last for ever. Both share the work afterwards."""
    buses = [StagedBus(prompt=True), StagedBus(prompt=True)]
    relays = [relay(db, bus) for bus in buses]
    loops = [Loop(f"relay-{number}", one.step, idle=0.05) for number, one in enumerate(relays)]

    async def shared() -> None:
        while not all(0 < len(one.leases.held) < PARTITIONS for one in relays):
            await asyncio.sleep(0.05)

    async with running(loops), asyncio.timeout(90):
        await shared()
        buses[0].is_away = True
        buses[0].links[-1].is_lost = True
        events = [event(new_id(), 1, studio_id=new_id()) for _ in range(STUDIOS)]
        await write(db, events)
        while {one.id for one in events} - set(buses[1].ids):
            await asyncio.sleep(0.05)
        assert not relays[0].leases.held
        buses[0].is_away = False
        await shared()
    for one in relays:
        await one.stop()
