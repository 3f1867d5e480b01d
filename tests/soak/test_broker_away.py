"""5,000 bookings while the broker is away."""

import pytest

from tests.harness.broker_outage import run_outage
from tests.harness.pipeline import new_studio, running_pipeline
from tests.harness.receiver import receiving


@pytest.mark.timeout(1200)
async def test_bookings_go_on_and_the_outbox_drains(database_url: str) -> None:
    """Nothing is refused, everything is delivered afterwards, and memory stays flat."""
    with running_pipeline(database_url) as running:
        async with new_studio(running) as pipeline, receiving(keep=False) as receiver:
            figures = await run_outage(pipeline, receiver, bookings=5_000)
    print(f"\nbroker away: {figures}")
    assert figures["MB after"] - figures["MB before"] < 20
    assert figures["MB drained"] - figures["MB before"] < 30
