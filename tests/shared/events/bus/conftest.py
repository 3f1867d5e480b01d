"""Both buses behind one fixture."""

from collections.abc import AsyncIterator

import pytest

from shared.events.bus import Bus, open_bus
from tests.shared.events.bus.notebook import Sender


@pytest.fixture(params=["memory", "rabbit"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    url = request.getfixturevalue("amqp_url") if request.param == "rabbit" else None
    async with open_bus(url) as made:
        yield made
        while Sender.links:
            await Sender.links.pop().close()
