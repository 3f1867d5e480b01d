"""What every client's follower is held to: a program that stores what it sees, killed again and again.

A program takes a file, the API's address and a key. It writes a line for each event to the file, goes on from
the last one, and prints why it has stopped.
"""

import asyncio
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.wire import new_id
from tests.harness.eventually import until
from tests.harness.http import Client
from tests.harness.system import System

EVENTS, KILLS = 120, 4
Start = Callable[[list[str]], "subprocess.Popen[str]"]


async def lead(partner: Client) -> str:
    return str((await partner.create("/leads", {"email": f"{new_id()}@example.com"}))["id"])


async def sees_every_event_once(system: System, seen: Path, start: Start) -> None:
    key = await system.key()
    partner, arguments = system.partner(key), arguments_of(system, seen, key)
    made: list[str] = []

    async def write() -> None:
        while len(made) < EVENTS:
            made.append(await lead(partner))

    async def reach(count: int) -> None:
        await until(lambda: len(lines_of(seen)) >= count)

    follower = start(arguments)
    try:
        writing = asyncio.create_task(write())
        for kill in range(1, KILLS + 1):
            await reach(EVENTS // (KILLS + 1) * kill)
            await asyncio.sleep(random.uniform(0, 0.02))
            follower.kill()
            follower.communicate()
            follower = start(arguments)
        await writing
        await reach(EVENTS)
    finally:
        follower.kill()
        follower.communicate()
    assert [line.split() for line in lines_of(seen)] == [[str(n + 1), one] for n, one in enumerate(made)]


async def stops_where_events_are_missing(
    system: System, seen: Path, told: Callable[[list[str]], Any]
) -> None:
    """`told` runs the program to its end and returns what it has printed."""
    key = await system.key()
    partner, arguments = system.partner(key), arguments_of(system, seen, key)
    for _ in range(3):
        await lead(partner)
    await partner.until("/events", lambda page: page["latest_sequence"] == 3)
    await system.operator.post(f"/studios/{system.studio_id}/events/prune", {"through": 2})
    assert await asyncio.to_thread(told, arguments) == {"reason": "expired", "oldest": 3}
    assert lines_of(seen) == []
    assert (await system.operator.post("/sequences/advance", {"by": 1_000_000})).status == 200
    await lead(partner)
    await asyncio.to_thread(seen.write_text, "2 before\n")
    assert await asyncio.to_thread(told, arguments) == {"reason": "jump", "oldest": 3}
    # With what came before the jump.
    assert [line.split()[0] for line in lines_of(seen)] == ["2", "3"]


def lines_of(seen: Path) -> list[str]:
    return seen.read_text().splitlines() if seen.exists() else []


def arguments_of(system: System, seen: Path, key: str) -> list[str]:
    return [str(seen), f"{system.running.partner_url}/partner/v1", key]
