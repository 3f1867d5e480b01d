"""`client.events.follow` of the TypeScript client against the running system."""

import asyncio
import random
from pathlib import Path

from shared.wire import new_id
from tests.clients.typescript.node_programs import Node
from tests.harness.eventually import until
from tests.harness.http import Client
from tests.harness.system import System

EVENTS = 120
KILLS = 4


async def lead(partner: Client) -> str:
    return str((await partner.create("/leads", {"email": f"{new_id()}@example.com"}))["id"])


async def test_a_follower_that_is_killed_sees_every_event_once_in_order(
    node: Node, system: System, tmp_path: Path
) -> None:
    """Killed at any moment, it goes on from what it has stored."""
    key = await system.key()
    partner, seen = system.partner(key), tmp_path / "seen"
    arguments = [str(seen), f"{system.running.partner_url}/partner/v1", key]
    made: list[str] = []

    async def write() -> None:
        while len(made) < EVENTS:
            made.append(await lead(partner))

    def lines() -> list[str]:
        return seen.read_text().splitlines() if seen.exists() else []

    async def seen_lines(count: int) -> None:
        await until(lambda: len(lines()) >= count)

    follower = node.start("follow.mjs", *arguments)
    try:
        writing = asyncio.create_task(write())
        for kill in range(KILLS):
            target = EVENTS // (KILLS + 1) * (kill + 1)
            await seen_lines(target)
            await asyncio.sleep(random.uniform(0, 0.02))
            follower.kill()
            follower.wait()
            follower = node.start("follow.mjs", *arguments)
        await writing
        await seen_lines(EVENTS)
    finally:
        follower.kill()
        follower.communicate()
    assert [line.split() for line in lines()] == [[str(n + 1), one] for n, one in enumerate(made)]


async def test_a_follower_stops_where_it_cannot_know_what_is_missing(
    node: Node, system: System, tmp_path: Path
) -> None:
    """When events are no longer kept, and when the sequence jumps after a restore."""
    key = await system.key()
    partner, seen = system.partner(key), tmp_path / "seen"
    arguments = [str(seen), f"{system.running.partner_url}/partner/v1", key]
    for _ in range(3):
        await lead(partner)
    await partner.until("/events", lambda page: page["latest_sequence"] == 3)
    await system.operator.post(f"/studios/{system.studio_id}/events/prune", {"through": 2})
    assert node.result("follow.mjs", *arguments) == {"reason": "expired", "oldest": 3}
    assert not seen.exists()
    assert (await system.operator.post("/sequences/advance", {"by": 1_000_000})).status == 200
    await lead(partner)
    seen.write_text("2 before\n")
    assert node.result("follow.mjs", *arguments) == {"reason": "jump", "oldest": 3}
    assert [line.split()[0] for line in seen.read_text().splitlines()] == ["2", "3"], (
        "what came before the jump"
    )
