"""Replicas of every role and broker nodes are killed in turn."""

import os

import pytest

from tests.harness.broker_cluster import Version
from tests.harness.kill_run import open_kill_run
from tests.harness.servers import home_for_servers

EVENTS = int(os.environ.get("STUDIO_KILL_EVENTS", "100000"))
STUDIOS, ENDPOINTS = 200, 20
# Events per second at most, of all producers together.
RATE = 300.0


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("version", [Version.OWN, Version.NEWER], ids=str)
async def test_no_event_is_lost_and_partitions_move_whatever_is_killed(
    version: Version,
) -> None:
    """Sequences without gaps, order per aggregate, nothing lost or logged twice, takeovers in under 10 s."""
    with home_for_servers() as home:
        async with open_kill_run(home, version) as run:
            try:
                await run.run(studios=STUDIOS, endpoints=ENDPOINTS, events=EVENTS, rate=RATE)
            except BaseException:
                print(f"\n{run.running.last_warnings()}")
                raise
            finally:
                print(f"\n{run.report.text()}")
            assert run.report.balances
            assert not run.report.slow
