"""How long a studio waits next to one that floods, with enough samples for a p99."""

import pytest

from tests.harness.tenant_fairness import Sizes, run_fairness


@pytest.mark.timeout(1800)
async def test_a_flooding_client_delays_no_other_studio(database_url: str) -> None:
    """200 endpoints with 200 events each: another studio's p99 is at most 1.5 times that of the control."""
    sizes = Sizes(endpoints=200, events=200, samples=60, pause=0.2)
    report = await run_fairness(database_url, sizes)
    print(f"\n{report.text()}")
    assert report.ratio <= 1.5
