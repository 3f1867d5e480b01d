"""The short form of `make chaos`: a few faults, chosen by a seed that a failure prints."""

import secrets

import pytest

from tests.chaos.faults.groups import SHORT
from tests.chaos.runner import Plan, run
from tests.chaos.table import plain
from tests.harness.servers import home_for_servers

# Most of the time goes into starting processes. Two of webhooks, whose partitions move between replicas.
REPLICAS = {"gateway": 1, "catalog": 1, "bookings": 1, "forms": 1, "webhooks": 2}


@pytest.mark.timeout(900)
async def test_nothing_is_lost_doubled_or_stuck_whatever_fails() -> None:
    """Every acknowledged write arrives unchanged, and no gateway answers 500 or fails to answer."""
    seed = secrets.randbelow(1_000_000)
    plan = Plan(SHORT, 1, 40, seed, rate=20.0, classes=20, members=100, studios=4, replicas=REPLICAS)
    said: list[str] = []
    with home_for_servers() as home:
        outcome = await run(plan, home, said.append)
    assert not outcome.problems, "\n".join([f"seed {seed}", *said, plain(outcome.results)])
    assert len(outcome.results) == len(SHORT)
    assert all(result.acknowledged >= 40 for result in outcome.results), plain(outcome.results)
