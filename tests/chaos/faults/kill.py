"""kill -9 and SIGSTOP of services and servers, one or several at once, and of a node of a broker cluster."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injected
from tests.harness.broker_cluster import NODES as COUNT
from tests.harness.process import with_descendants


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


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def stop_a_service(arena: Arena, draw: random.Random) -> Injected:
    return stopped(arena, draw.choice(sorted(arena.processes)))


def stop_for_good(arena: Arena, draw: random.Random) -> Injected:
    """It goes on only after the other replica has taken over."""
    return stopped(arena, draw.choice(arena.with_a_twin()))


@asynccontextmanager
async def stopped(arena: Arena, name: str) -> AsyncIterator[str]:
    async with arena.excused(name):
        arena.signal(name, signal.SIGSTOP)
        try:
            yield name
        finally:
            arena.signal(name, signal.SIGCONT)


def stop_postgres(arena: Arena, draw: random.Random) -> Injected:
    return stopped_server(arena.postgres.pid)


def stop_the_broker(arena: Arena, draw: random.Random) -> Injected:
    return stopped_server(arena.rabbit.pid)


@asynccontextmanager
async def stopped_server(pid: int) -> AsyncIterator[str]:
    pids = with_descendants(pid)
    signal_all(pids, signal.SIGSTOP)
    try:
        yield f"{len(pids)} processes"
    finally:
        signal_all(with_descendants(pid), signal.SIGCONT)


STOP = Group(
    "stop",
    (
        Fault("SIGSTOP one process", stop_a_service, (2.0, 14.0)),
        Fault("SIGSTOP one process for good", stop_for_good, (0.0, 0.0), lasting=True),
        Fault("SIGSTOP Postgres", stop_postgres, (2.0, 14.0)),
        Fault("SIGSTOP RabbitMQ", stop_the_broker, (2.0, 14.0)),
    ),
)


@asynccontextmanager
async def kill_node(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """It comes back only after events flow again."""
    assert arena.cluster is not None
    number = draw.randrange(COUNT)
    await arena.cluster.kill(number)
    yield f"broker-{number + 1}"
    await arena.cluster.revive(number)


NODES = Group("nodes", (Fault("kill -9 a broker's node", kill_node, (0.0, 0.0), lasting=True),))
