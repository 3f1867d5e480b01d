"""Both buses behind one fixture."""

from collections.abc import AsyncIterator

import pytest

from shared.events.bus import Bus
from shared.events.bus.memory import MemoryBus
from shared.events.bus.rabbit import RabbitBus
from tests.shared.events.bus.queues import PARTITIONS, QUEUES


@pytest.fixture(params=["memory", "rabbit"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    made: Bus
    if request.param == "memory":
        made = MemoryBus(QUEUES)
    else:
        made = await RabbitBus(request.getfixturevalue("amqp_url"), QUEUES, partitions=PARTITIONS).connect()
    yield made
    await made.close()
