"""Five minutes of all attacks at once, while a well-behaved partner works.

Names whose DNS hangs are not part of this run, because the name servers of a separate process cannot be faked
from here. tests/services/webhooks/test_hanging_dns.py tests that case.
"""

from pathlib import Path

import aiohttp
import pytest

from tests.harness.hostile_run import Sizes, run_hostile
from tests.harness.system import System, separate_services


@pytest.mark.timeout(1800)
async def test_a_well_behaved_partner_hardly_notices_an_attack(
    database_url: str, amqp_url: str, tmp_path: Path
) -> None:
    """Its p99 less than doubles, no process needs more than 300 MB, and nothing is lost."""
    sizes = Sizes(
        silent=2000, slow_sending=500, slow_reading=500, receivers=50, seconds=300, quiet_seconds=30
    )
    with separate_services(tmp_path, database_url, amqp_url) as running:
        async with aiohttp.ClientSession() as session:
            system = System(running, session)
            system.studio_id = await system.new_studio()
            report = await run_hostile(system, sizes)
    print(f"\n{report.text()}")
    assert report.refused == 0
    assert report.arrived == report.created
    assert report.ratio < 2
    assert max(report.memory_mb.values()) <= 300
