"""Slow, flooding, hostile and busy neighbours: how long another endpoint or studio waits next to them."""

import pytest

from shared.servers.ports import free_port
from tests.harness.endpoint_isolation import Sizes, run_isolation
from tests.harness.hanging_names import hanging_names, hanging_urls
from tests.harness.hostile_clients import attackers
from tests.harness.hot_studio import run_hot_studio
from tests.harness.pipeline import open_pipeline
from tests.harness.tenant_fairness import Sizes as FloodSizes
from tests.harness.tenant_fairness import percentile, run_fairness

SAMPLES = 4000
FLOOD = FloodSizes(endpoints=200, events=200, samples=60, pause=0.2)


@pytest.mark.timeout(1800)
async def test_nobody_waits_for_a_slow_neighbour(database_url: str) -> None:
    """One endpoint hangs and one fails next to 50 healthy ones, with a backlog of 100,000 deliveries.

    The healthy ones' p99 moves by less than 10 % and their throughput by less than 5 %."""
    sizes = Sizes(healthy=50, backlog=100_000, rounds=24, burst=40, steady_seconds=4, steady_rate=2)
    report = await run_isolation(database_url, sizes)
    print(f"\n{report.text()}")
    assert report.backlog_left >= 99_000
    assert report.p99_ratio < 1.10
    assert report.throughput_ratio > 0.95


@pytest.mark.timeout(1800)
async def test_a_flooding_client_delays_no_other_studio(database_url: str) -> None:
    """200 endpoints with 200 events each: another studio's p99 is at most 1.5 times that of the control."""
    report = await run_fairness(database_url, FLOOD)
    print(f"\n{report.text()}")
    assert report.ratio <= 1.5


@pytest.mark.timeout(1800)
async def test_names_whose_dns_hangs_delay_no_other_studio(database_url: str) -> None:
    """200 endpoints of one studio at names that hang, 200 events each; the control's endpoints answer."""
    with hanging_names() as names:
        report = await run_fairness(database_url, FLOOD, hanging_urls(200))
    print(f"\n{report.text()}")
    assert names.hanging, "control: lookups did hang"
    assert report.ratio <= 1.5
    # The control's backlog is delivered, which is more work than one that hangs, so this limit is absolute.
    assert percentile(report.flooded, 0.5) < 3


@pytest.mark.timeout(1800)
async def test_receivers_that_answer_without_end_delay_no_other_studio(database_url: str) -> None:
    """200 endpoints of one studio at 50 hostile receivers, in their own process; 200 events each."""
    async with attackers(free_port(), [0, 0, 0, 0, 0], 50, "") as urls:
        report = await run_fairness(database_url, FLOOD, urls)
    print(f"\n{report.text()}")
    assert report.ratio <= 1.5
    assert percentile(report.flooded, 0.5) < 3


@pytest.mark.timeout(1800)
async def test_a_hot_studio_delays_no_other(database_url: str) -> None:
    """At half of peak, from commit to receipt: the others' p99 is at most 1.5 times that of the control."""
    async with open_pipeline(database_url) as pipeline:
        report = await run_hot_studio(pipeline, samples=SAMPLES, rounds=4, peak_events=4000)
    print(f"\n{report.text()}")
    assert min(len(report.hot), len(report.control)) >= 2000
    assert report.ratio <= 1.5
