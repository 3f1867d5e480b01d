"""One node of a cluster of brokers is killed, and the others go on."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group
from tests.harness.broker_cluster import NODES as COUNT


@asynccontextmanager
async def kill_node(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """It comes back only after events flow again."""
    assert arena.cluster is not None
    number = draw.randrange(COUNT)
    await arena.cluster.kill(number)
    yield f"broker-{number + 1}"
    await arena.cluster.revive(number)


NODES = Group("nodes", (Fault("kill -9 a broker's node", kill_node, (0.0, 0.0), lasting=True),))
