"""Clocks that step while processes run, with libfaketime. Timers go on: only the time of day changes."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal

from msgspec import structs

from shared.servers.postgres_binaries import PostgresBinaries, find_postgres
from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injection
from tests.chaos.faults.receivers import responses
from tests.harness.debian_package import find_libfaketime

POSTGRES = "postgres"
STEPS = (-3600, -60, -5, 5, 60, 3600)
SMALL_STEPS = (-5, 5)


def missing() -> str | None:
    return (
        None if find_libfaketime() else "clock steps need libfaketime (Debian: apt-get install libfaketime)"
    )


@asynccontextmanager
async def fake_clocks(arena: Arena) -> AsyncIterator[None]:
    """Restarts every process with its own clock, and again without it at the end."""
    arena.ledger.timestamps_are_real = False
    await restart_postgres(arena, faked_postgres(arena))
    before = {name: process.environment for name, process in arena.processes.items()}
    for name, process in arena.processes.items():
        process.environment = process.environment | faked(arena, name)
    await start_all_again(arena)
    try:
        yield
    finally:
        for name, process in arena.processes.items():
            process.environment = before[name]
        await restart_postgres(arena, None)
        await start_all_again(arena)
        arena.ledger.timestamps_are_real = True


def faked(arena: Arena, name: str) -> dict[str, str]:
    """The environment that gives a process the clock of that name, set to the real time."""
    set_clocks(arena, [name], 0)
    return {
        "LD_PRELOAD": str(find_libfaketime()),
        "FAKETIME_TIMESTAMP_FILE": str(clock_of(arena, name)),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def faked_postgres(arena: Arena) -> PostgresBinaries:
    """A script that starts the server with the changed environment."""
    found = find_postgres()
    assert found is not None
    folder = arena.folder / "clocked"
    folder.mkdir(mode=0o711)
    settings = " ".join(f"{name}={value}" for name, value in faked(arena, POSTGRES).items())
    (folder / "postgres").write_text(f'#!/bin/sh\nexec env {settings} {found.postgres} "$@"\n')
    (folder / "postgres").chmod(0o755)
    return structs.replace(found, folder=folder)


async def restart_postgres(arena: Arena, binaries: PostgresBinaries | None) -> None:
    arena.postgres_binaries = binaries
    await asyncio.to_thread(arena.postgres.stop)
    await arena.start_postgres()


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


def step(whose: Literal["one", "all", "postgres"]) -> Injection:
    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        """In half of the rounds receivers fail, so that there are retries. A clock that is set back makes
        them late by the step, so it is a small one then.
        """
        names = sorted(arena.processes)
        chosen = {"one": [draw.choice(names)], "all": names, "postgres": [POSTGRES]}[whose]
        failing = draw.random() < 0.5
        seconds = draw.choice(SMALL_STEPS if failing else STEPS)
        async with AsyncExitStack() as stack:
            errors = ""
            if failing:
                errors = f"; errors from {await stack.enter_async_context(responses('error')(arena, draw))}"
            set_clocks(arena, chosen, seconds)
            stack.callback(set_clocks, arena, chosen, 0)
            yield f"{seconds:+d} s in {'all' if whose == 'all' else chosen[0]}{errors}"

    return inject


CLOCK = Group(
    "clock",
    (
        Fault("clock of one process steps", step("one"), (2.5, 5.0)),
        Fault("clocks of all services step", step("all"), (2.5, 5.0)),
        Fault("clock of Postgres steps", step("postgres"), (2.5, 5.0)),
    ),
    fake_clocks,
    missing,
)
