"""SIGSTOP: a process that neither dies nor answers."""

import os
import random
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injected
from tests.harness.process import with_descendants


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
