"""Replicas of every role and nodes of a broker cluster are killed, with both versions of RabbitMQ."""

import os
import secrets

import pytest
from msgspec import structs

from tests.chaos.faults.kill import KILL, NODES
from tests.chaos.runner import Plan, run
from tests.chaos.table import plain
from tests.harness.broker_cluster import Version
from tests.harness.servers import home_for_servers

ROUNDS = int(os.environ.get("STUDIO_KILL_ROUNDS", "20"))
# A dispatcher's leases last 12 s.
TAKEOVER_SECONDS = 15.0
REPLICAS = {"gateway": 1, "catalog": 1, "bookings": 2, "forms": 2, "log": 2, "dispatch": 2}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("version", [Version.OWN, Version.NEWER], ids=str)
async def test_no_event_is_lost_and_the_others_take_over_whatever_is_killed(version: Version) -> None:
    """Nothing is lost, doubled or out of order, and while a replica or a node is away events flow again."""
    seed = secrets.randbelow(1_000_000)
    groups = tuple(
        structs.replace(group, recovery_seconds=TAKEOVER_SECONDS) for group in (KILL.only("for good"), NODES)
    )
    plan = Plan(groups, ROUNDS, writes=600, seed=seed, rate=60.0, replicas=REPLICAS, cluster=version)
    with home_for_servers() as home:
        outcome = await run(plan, home, print)
    print(f"\n{version}, seed {seed}\n{plain(outcome.results)}")
    assert not outcome.problems
    assert len(outcome.results) == len(groups) * ROUNDS
