"""A restart of Postgres delays deliveries for as long as it takes, and hardly longer."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from aiohttp import web

from shared.db.migrate import migrate
from shared.servers.postgres import EmbeddedPostgres, find_postgres
from tests.harness.database_layout import LAYOUT, Layout
from tests.harness.eventually import eventually
from tests.harness.receiver import Received, Receiver
from tests.harness.servers import home_for_servers
from tests.services.webhooks.studio_client import open_studio_client

pytestmark = pytest.mark.skipif(
    find_postgres() is None or LAYOUT is Layout.POOLER, reason="needs a Postgres of its own to stop"
)


@pytest.fixture
def home() -> Iterator[Path]:
    with home_for_servers() as folder:
        yield folder


class Failing:
    """Answers 500, then `status` once it is allowed to, then 200."""

    def __init__(self, status: int) -> None:
        self.allowed = asyncio.Event()
        self._statuses = [200, status, 500]

    async def __call__(self, _: Received) -> web.StreamResponse:
        if len(self._statuses) == 2:
            await self.allowed.wait()
        return web.Response(status=self._statuses.pop() if self._statuses else 200)


async def test_a_restart_while_results_are_recorded_delays_the_endpoints_for_a_moment(
    home: Path, receiver: Receiver, second_receiver: Receiver
) -> None:
    """The last write of a recording fails: that a failing endpoint is well again, or that it is gone.

    Both are written once the database is back, and the lanes go on instead of waiting out their leases.
    """
    well, gone = Failing(200), Failing(410)
    receiver.response, second_receiver.response = well, gone
    server = await asyncio.to_thread(EmbeddedPostgres.start, home, durable=False)
    try:
        await migrate(server.url, ("webhooks",))
        async with open_studio_client(server.url) as client:
            await client.endpoint(receiver.url)
            await client.endpoint(second_receiver.url)
            await client.publish_some(1)
            await receiver.until_count(2)
            await second_receiver.until_count(2)
            # The results of the deliveries can be written, but not the state of the lanes.
            blocker = await asyncpg.connect(server.url)
            await blocker.execute("BEGIN; SELECT * FROM webhooks.lanes FOR UPDATE")
            well.allowed.set()
            gone.allowed.set()
            both_wait = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' HAVING count(*) = 2"
            await eventually(lambda: client.sql(both_wait))
            await asyncio.to_thread(server.stop)
            server = await asyncio.to_thread(EmbeddedPostgres.start, home, durable=False)
            began = time.perf_counter()

            async def settled() -> bool:
                lanes = await client.sql(
                    "SELECT e.disabled_reason, l.failing_since IS NULL AS well FROM lanes l"
                    " JOIN endpoints e ON e.id = l.endpoint_id WHERE l.token IS NULL ORDER BY e.created_at"
                )
                return [(row["disabled_reason"], row["well"]) for row in lanes] == [
                    (None, True),
                    ("gone", False),
                ]

            await eventually(settled, seconds=15)
            await client.publish_some(1)
            await receiver.until_count(3)
            assert time.perf_counter() - began < 4
    finally:
        await asyncio.to_thread(server.stop)
