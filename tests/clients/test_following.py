"""`client.events.follow` of every client, in a program that stores what it sees.

A program takes a file, the API's address and a key. It writes a line for each event to the file, goes on from
the last one, and prints why it has stopped.
"""

import asyncio
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.wire import new_id
from tests.clients.drivers import start_follower
from tests.harness.eventually import until
from tests.harness.http import Client
from tests.harness.system import System

EVENTS, KILLS = 120, 4
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(params=["python", "typescript"])
def start(request: pytest.FixtureRequest) -> Start:
    if request.param == "python":
        return start_follower
    node = request.getfixturevalue("node")
    return lambda *arguments: node.start("follow.mjs", *arguments)


async def lead(partner: Client) -> str:
    return str((await partner.create("/leads", {"email": f"{new_id()}@example.com"}))["id"])


def lines_of(seen: Path) -> list[str]:
    return seen.read_text().splitlines() if seen.exists() else []


async def test_a_follower_that_is_killed_sees_every_event_once_in_order(
    system: System, start: Start, tmp_path: Path
) -> None:
    """Killed at any moment, it goes on from what it has stored."""
    key, seen = await system.key(), tmp_path / "seen"
    partner, arguments = system.partner(key), (str(seen), f"{system.running.partner_url}/partner/v1", key)
    made: list[str] = []

    async def write() -> None:
        while len(made) < EVENTS:
            made.append(await lead(partner))

    async def reach(count: int) -> None:
        await until(lambda: len(lines_of(seen)) >= count)

    follower = start(*arguments)
    try:
        writing = asyncio.create_task(write())
        for kill in range(1, KILLS + 1):
            await reach(EVENTS // (KILLS + 1) * kill)
            await asyncio.sleep(random.uniform(0, 0.02))
            follower.kill()
            follower.communicate()
            follower = start(*arguments)
        await writing
        await reach(EVENTS)
    finally:
        follower.kill()
        follower.communicate()
    assert [line.split() for line in lines_of(seen)] == [[str(n + 1), one] for n, one in enumerate(made)]


async def test_a_follower_stops_where_it_cannot_know_what_is_missing(
    system: System, start: Start, tmp_path: Path
) -> None:
    """When events are no longer kept, and when the sequence jumps after a restore."""
    key, seen = await system.key(), tmp_path / "seen"
    partner, arguments = system.partner(key), (str(seen), f"{system.running.partner_url}/partner/v1", key)

    async def told() -> object:
        return json.loads((await asyncio.to_thread(start(*arguments).communicate, timeout=30))[0])

    for _ in range(3):
        await lead(partner)
    await partner.until("/events", lambda page: page["latest_sequence"] == 3)
    await system.operator.post(f"/studios/{system.studio_id}/events/prune", {"through": 2})
    assert await told() == {"reason": "expired", "oldest": 3}
    assert lines_of(seen) == []
    assert (await system.operator.post("/sequences/advance", {"by": 1_000_000})).status == 200
    await lead(partner)
    await asyncio.to_thread(seen.write_text, "2 before\n")
    assert await told() == {"reason": "jump", "oldest": 3}
    # With what came before the jump.
    assert [line.split()[0] for line in lines_of(seen)] == ["2", "3"]
