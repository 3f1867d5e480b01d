"""20,000 events while relay, broker, dispatcher and Postgres are killed in turn."""

from contextlib import AsyncExitStack

import pytest

from tests.harness.ledger import run_ledger
from tests.harness.pipeline import open_pipeline
from tests.harness.receiver import receiving


@pytest.mark.timeout(1800)
async def test_every_event_is_delivered_whatever_is_killed() -> None:
    """At least once, none unknown, repeats only with the same webhook-id and bytes; the ledger balances."""
    async with AsyncExitStack() as stack:
        pipeline = await stack.enter_async_context(open_pipeline())
        receivers = [await stack.enter_async_context(receiving(keep=False)) for _ in range(3)]
        report = await run_ledger(pipeline, receivers, events=20_000, rounds=3)
    print(f"\n{report.text()}")
    assert report.balances, (report.undelivered[:20], report.unknown[:20], report.gaps[:20])
