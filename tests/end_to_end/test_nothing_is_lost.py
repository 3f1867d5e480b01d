"""Short versions of the soak runs: the same code at sizes that fit a normal test run."""

from contextlib import AsyncExitStack

import pytest

from tests.harness.broker_outage import run_outage
from tests.harness.endpoint_isolation import Sizes, run_isolation
from tests.harness.ledger import run_ledger
from tests.harness.pipeline import open_pipeline
from tests.harness.receiver import receiving


@pytest.mark.timeout(300)
async def test_every_event_is_delivered_whatever_is_killed() -> None:
    """1,000 events while relay, broker, dispatcher and Postgres are killed in turn: the ledger balances."""
    async with AsyncExitStack() as stack:
        pipeline = await stack.enter_async_context(open_pipeline())
        receivers = [await stack.enter_async_context(receiving(keep=False)) for _ in range(2)]
        report = await run_ledger(pipeline, receivers, events=1_000, rounds=1)
    assert report.balances, report.text()
    assert report.requests >= 1_500


@pytest.mark.timeout(300)
async def test_bookings_go_on_while_the_broker_is_away() -> None:
    """300 bookings during a broker outage: none refused, all delivered after it."""
    async with open_pipeline() as pipeline, receiving(keep=False) as receiver:
        report = await run_outage(pipeline, receiver, bookings=300)
    assert report.refused == 0, report.text()
    assert report.outbox_at_its_longest >= 300, report.text()
    assert report.outbox_at_the_end == 0, report.text()
    assert report.delivered >= report.bookings, report.text()


@pytest.mark.timeout(300)
async def test_nobody_waits_for_a_slow_neighbour(database_url: str) -> None:
    """10 healthy endpoints next to a hanging one with 5,000 waiting deliveries.

    A healthy endpoint that waited for the hanging one would wait for its timeout of many seconds. The soak
    run has the precise ratios: while other tests run, a p99 over a few hundred waits is too coarse for them.
    """
    sizes = Sizes(healthy=10, backlog=5_000, rounds=2, burst=40, steady_seconds=3, steady_rate=5)
    report = await run_isolation(database_url, sizes)
    assert report.backlog_left >= 4_900, report.text()
    assert report.p99(report.with_faulty) < 2_000, report.text()
    assert report.throughput_ratio > 0.2, report.text()
