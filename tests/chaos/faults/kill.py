"""kill -9 of services, one or several at once."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injected


@asynccontextmanager
async def killed(arena: Arena, names: Sequence[str]) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        for name in names:
            await stack.enter_async_context(arena.excused(name))
        for name in names:
            await arena.kill(name)
        yield ", ".join(names)
        for name in names:
            arena.processes[name].start()
        for name in names:
            await arena.until_ready(name)


def kill_one(arena: Arena, draw: random.Random) -> Injected:
    return killed(arena, [draw.choice(sorted(arena.processes))])


def kill_all_of_a_service(arena: Arena, draw: random.Random) -> Injected:
    service = draw.choice(sorted(arena.balancers))
    return killed(arena, [name for name in arena.processes if name.startswith(service)])


def kill_several(arena: Arena, draw: random.Random) -> Injected:
    return killed(arena, draw.sample(sorted(arena.processes), 3))


def kill_for_good(arena: Arena, draw: random.Random) -> Injected:
    """It comes back only after the other replica has taken over."""
    return killed(arena, [draw.choice(arena.with_a_twin())])


@asynccontextmanager
async def kill_again_and_again(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """Also kills the process while it starts."""
    name = draw.choice(sorted(arena.processes))
    async with killed(arena, [name]):
        for _ in range(3):
            arena.processes[name].start()
            await asyncio.sleep(draw.uniform(0.1, 2.5))
            await arena.kill(name)
        yield name


KILL = Group(
    "kill",
    (
        Fault("kill -9 one process", kill_one, (0.2, 2.0)),
        Fault("kill -9 all replicas of a service", kill_all_of_a_service, (0.2, 2.0)),
        Fault("kill -9 three processes", kill_several, (0.2, 2.0)),
        Fault("kill -9 while it starts", kill_again_and_again, (0.1, 0.5)),
        Fault("kill -9 for good", kill_for_good, (0.0, 0.0), lasting=True),
    ),
)
