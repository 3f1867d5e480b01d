"""A short version of the soak run: endpoints do not wait for one that hangs."""

import pytest

from tests.harness.endpoint_isolation import Sizes, run_isolation


@pytest.mark.timeout(300)
async def test_nobody_waits_for_a_slow_neighbour(database_url: str) -> None:
    """10 healthy endpoints next to a hanging one with 2,000 waiting deliveries.

    A healthy endpoint that waited for the hanging one would wait for its timeout of many seconds. The soak
    run has the precise ratios: while other tests run, a p99 over a few hundred waits is too coarse for them.
    """
    sizes = Sizes(healthy=10, backlog=2_000, rounds=1, burst=40, steady_seconds=2, steady_rate=5)
    report = await run_isolation(database_url, sizes)
    assert report.backlog_left >= 1_900, report.text()
    assert report.p99(report.with_faulty) < 2_000, report.text()
    assert report.throughput_ratio > 0.2, report.text()
