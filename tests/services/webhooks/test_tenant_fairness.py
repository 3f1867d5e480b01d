"""Fairness between tenants: a studio that floods the dispatcher delays itself."""

import asyncio
from collections import Counter
from unittest.mock import patch

import pytest

from services.webhooks.dispatcher.dispatcher import Dispatcher
from services.webhooks.dispatcher.lane import Lane
from services.webhooks.dispatcher.sender import Sender
from shared.wire import new_id
from tests.harness.receiver import Receiver
from tests.harness.tenant_fairness import Sizes, run_fairness
from tests.services.webhooks.studio_client import open_studio_client

ATTEMPTS = 3


async def test_a_flood_by_one_studio_delays_another_no_more_than_the_same_load_spread_evenly(
    database_url: str,
) -> None:
    """The p99 is at most 1.5 times that of the control. Without a studio's share it was 2.5 times.

    With few samples one hiccup of the machine is the p99, so a run may be repeated; `make soak` has many.
    """
    reports = []
    for _ in range(ATTEMPTS):
        sizes = Sizes(endpoints=60, events=50, samples=12, pause=0.1)
        reports.append(await run_fairness(database_url, sizes))
        if reports[-1].ratio <= 1.5:
            return
    pytest.fail("\n".join(report.text() for report in reports))


async def test_studios_whose_endpoints_hang_leave_room_for_others(
    database_url: str, receiver: Receiver
) -> None:
    """However many lanes of theirs are due, and although they are due first."""
    async with (
        open_studio_client(database_url, webhooks_only="log") as client,
        Sender(client.context.urls) as sender,
    ):
        context = client.context
        dispatcher = Dispatcher(context.db, sender, context.cipher, (0.05,), max_lanes=16)
        hanging = [client.caller(studio_id=new_id()) for _ in range(3)]
        for caller in hanging:
            for _ in range(10):
                await client.endpoint(receiver.url, caller=caller)
        await client.sql("UPDATE lanes SET due_at = now() - interval '1 hour'")
        theirs = await client.endpoint(receiver.url)
        await client.sql("UPDATE lanes SET due_at = now() WHERE studio_id = $1", client.studio_id)
        with patch.object(Lane, "run", lambda lane: asyncio.Event().wait()):
            while await dispatcher.step():
                pass
            try:
                running = [lane.lease for lane in dispatcher._running.values()]
                assert theirs["id"] in {lease.endpoint_id for lease in running}
                assert len(running) > 8
                shares = Counter(lease.studio_id for lease in running)
                assert max(shares.values()) <= 8
            finally:
                await dispatcher.stop()
