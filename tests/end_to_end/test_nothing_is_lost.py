"""The small sisters of the soak runs: the same code at sizes that fit an ordinary test run."""

from contextlib import AsyncExitStack

import pytest

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
