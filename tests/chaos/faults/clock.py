"""Clocks that step while processes run, by libfaketime. Timers go on: only the time of day changes."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injection

LIBRARIES = "/usr/lib/*/faketime/libfaketimeMT.so.1"
STEPS = (-3600, -60, -5, 5, 60, 3600)


def library() -> Path | None:
    return next(iter(sorted(Path("/").glob(LIBRARIES.lstrip("/")))), None)


def missing() -> str | None:
    return None if library() else "clock steps need libfaketime (Debian: apt-get install libfaketime)"


@asynccontextmanager
async def fake_clocks(arena: Arena) -> AsyncIterator[None]:
    """Every process is started again with a clock of its own, and once more without it at the end."""
    before = {name: process.environment for name, process in arena.processes.items()}
    for name, process in arena.processes.items():
        set_clocks(arena, [name], 0)
        process.environment = process.environment | {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(clock_of(arena, name)),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    await start_all_again(arena)
    try:
        yield
    finally:
        for name, process in arena.processes.items():
            process.environment = before[name]
        await start_all_again(arena)


async def start_all_again(arena: Arena) -> None:
    async with AsyncExitStack() as stack:
        for name in arena.processes:
            await stack.enter_async_context(arena.excused(name))
        for process in arena.processes.values():
            await asyncio.to_thread(process.stop)
            process.start()
        for name in arena.processes:
            await arena.until_ready(name)


def clock_of(arena: Arena, name: str) -> Path:
    return arena.folder / f"{name}.clock"


def set_clocks(arena: Arena, names: Iterable[str], seconds: int) -> None:
    for name in names:
        fresh = clock_of(arena, name).with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.replace(clock_of(arena, name))


def step(*, all_processes: bool) -> Injection:
    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        names = sorted(arena.processes)
        chosen = names if all_processes else [draw.choice(names)]
        seconds = draw.choice(STEPS)
        set_clocks(arena, chosen, seconds)
        try:
            yield f"{seconds:+d} s in {'all' if all_processes else chosen[0]}"
        finally:
            set_clocks(arena, chosen, 0)

    return inject


CLOCK = Group(
    "clock",
    (
        Fault("clock of one process steps", step(all_processes=False), (2.5, 5.0)),
        Fault("clocks of all services step", step(all_processes=True), (2.5, 5.0)),
    ),
    fake_clocks,
    missing,
)
