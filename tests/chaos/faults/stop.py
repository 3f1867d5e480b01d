"""SIGSTOP: a process that neither dies nor answers."""

import os
import random
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group


def with_descendants(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@asynccontextmanager
async def stop_a_service(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    async with stopped(arena, draw.choice(sorted(arena.processes))) as name:
        yield name


@asynccontextmanager
async def stop_for_good(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """It goes on only after the other replica has taken over."""
    async with stopped(arena, draw.choice(arena.with_a_twin())) as name:
        yield f"{name}, for good"


@asynccontextmanager
async def stopped(arena: Arena, name: str) -> AsyncIterator[str]:
    async with arena.excused(name):
        arena.signal(name, signal.SIGSTOP)
        try:
            yield name
        finally:
            arena.signal(name, signal.SIGCONT)


@asynccontextmanager
async def stop_postgres(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    pids = with_descendants(arena.postgres.pid)
    signal_all(pids, signal.SIGSTOP)
    try:
        yield f"{len(pids)} processes of Postgres"
    finally:
        signal_all(with_descendants(arena.postgres.pid), signal.SIGCONT)


@asynccontextmanager
async def stop_the_broker(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    signal_all(with_descendants(arena.rabbit.pid), signal.SIGSTOP)
    try:
        yield "RabbitMQ"
    finally:
        signal_all(with_descendants(arena.rabbit.pid), signal.SIGCONT)


STOP = Group(
    "stop",
    (
        Fault("SIGSTOP one process", stop_a_service, (2.0, 14.0)),
        Fault("SIGSTOP one process for good", stop_for_good, (0.0, 0.0), lasting=True),
        Fault("SIGSTOP Postgres", stop_postgres, (2.0, 14.0)),
        Fault("SIGSTOP RabbitMQ", stop_the_broker, (2.0, 14.0)),
    ),
)
