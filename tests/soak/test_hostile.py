"""Five minutes of all attacks at once, while a well-behaved partner works.

STUDIO_HOSTILE_SECONDS shortens it, to see that it runs; with few calls the p99 is a single hiccup.
"""

import os
from pathlib import Path

import aiohttp
import pytest

from tests.harness.hanging_names import hanging_dns, name_server
from tests.harness.hostile_run import Sizes, run_hostile
from tests.harness.system import System, separate_services
from tests.harness.tenant_fairness import percentile

SECONDS = float(os.environ.get("STUDIO_HOSTILE_SECONDS", "300"))
# The attackers and what they cause keep two cores nine tenths busy, so each call waits for a processor a few
# times. An idle machine may answer in much less than one such wait, and then any load at all doubles its p99.
LEAST_P99 = 0.018


@pytest.mark.timeout(1800)
async def test_a_well_behaved_partner_hardly_notices_an_attack(
    database_url: str, amqp_url: str, tmp_path: Path
) -> None:
    """Its p99 less than doubles, no process needs more than 300 MB, and nothing is lost.

    The control is the same partner on the same system before the attack, or `LEAST_P99` if that is more.
    """
    sizes = Sizes(
        silent=2000,
        slow_sending=500,
        slow_reading=500,
        receivers=50,
        hanging_names=50,
        seconds=SECONDS,
        quiet_seconds=min(30.0, SECONDS),
    )
    with (
        name_server() as names,
        separate_services(tmp_path, database_url, amqp_url, **hanging_dns(names)) as running,
    ):
        async with aiohttp.ClientSession() as session:
            system = System(running, session)
            system.studio_id = await system.new_studio()
            report = await run_hostile(system, sizes)
    print(f"\n{report.text()}; {len(names.hanging)} names hung")
    assert report.refused == 0
    assert report.arrived == report.created
    assert report.flooded > 0, "control: the other client did flood"
    assert percentile(report.attacked, 0.99) < 2 * max(percentile(report.quiet, 0.99), LEAST_P99)
    assert max(report.memory_mb.values()) <= 300
