"""`client.events.follow` of the TypeScript client against the running system."""

from pathlib import Path

from tests.clients.following import sees_every_event_once, stops_where_events_are_missing
from tests.clients.typescript.node_programs import Node
from tests.harness.system import System


async def test_a_follower_that_is_killed_sees_every_event_once_in_order(
    node: Node, system: System, tmp_path: Path
) -> None:
    """Killed at any moment, it goes on from what it has stored."""
    seen = tmp_path / "seen"
    await sees_every_event_once(system, seen, lambda arguments: node.start("follow.mjs", *arguments))


async def test_a_follower_stops_where_it_cannot_know_what_is_missing(
    node: Node, system: System, tmp_path: Path
) -> None:
    """When events are no longer kept, and when the sequence jumps after a restore."""
    seen = tmp_path / "seen"
    await stops_where_events_are_missing(
        system, seen, lambda arguments: node.result("follow.mjs", *arguments)
    )
