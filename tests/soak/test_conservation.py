"""100,000 mixed operations on services that are killed meanwhile; the ledger is printed."""

import time

import pytest

from tests.services.bookings.conftest import client, service
from tests.services.bookings.conservation import Conservation, fleet
from tests.services.bookings.studio_client import StudioClient

__all__ = ["client", "service"]

OPERATIONS, KILL_EVERY, AT_ONCE = 100_000, 2_500, 20_000


@pytest.mark.timeout(7200)
async def test_a_hundred_thousand_operations_conserve_everything(
    client: StudioClient, database_url: str
) -> None:
    """Bookings, holds, confirmations, moves, cancellations, purchases and capacity changes."""
    run = Conservation(client, seed=int(time.time()))
    await run.open()
    started = time.monotonic()
    async with fleet(run.client, database_url) as running:
        for _ in range(OPERATIONS // AT_ONCE):
            await run.run(running, AT_ONCE, kill_every=KILL_EVERY)
            assert await run.problems() == []
            print(f"\n{time.monotonic() - started:.0f} s: {run.report(running)}", flush=True)
