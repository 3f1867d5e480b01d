"""Both buses behind one fixture, and a broker of this folder's own, since its tests kill it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.bus import Bus
from shared.bus.memory import MemoryBus
from shared.bus.rabbit import RabbitBus
from shared.servers.rabbitmq import PrivateRabbit
from shared.wire import new_id
from tests.shared.bus.queues import QUEUES


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRabbit]:
    home: Path = tmp_path_factory.mktemp("rabbit")
    with PrivateRabbit.start(home) as rabbit:
        yield rabbit


@pytest.fixture
def vhost_url(broker: PrivateRabbit) -> str:
    """A fresh vhost: a broker with no queues."""
    name = f"t-{new_id()[:8]}"
    broker.start_again()
    broker.add_vhosts([name])
    return broker.url_of(name)


@pytest.fixture(params=["memory", "rabbit"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    made: Bus
    if request.param == "memory":
        made = MemoryBus(QUEUES)
    else:
        made = await RabbitBus(request.getfixturevalue("vhost_url"), QUEUES).connect()
    yield made
    await made.close()
