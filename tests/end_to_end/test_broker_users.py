"""Every service with its own broker user, as compose and Kubernetes run them."""

from pathlib import Path

import pytest

from tests.harness.bookable_studio import bookable
from tests.harness.broker_users import broker_urls
from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.receiver import receiving
from tests.harness.servers import Rabbit
from tests.harness.system import new_studio_in, separate_services

WAITING = """
SELECT (SELECT count(*) FROM catalog.outbox) + (SELECT count(*) FROM bookings.outbox)
     + (SELECT count(*) FROM forms.outbox) + (SELECT count(*) FROM webhooks.outbox)
"""


@pytest.mark.timeout(300)
async def test_bookings_and_new_members_go_all_the_way_with_separate_broker_users(
    tmp_path: Path, database_url: str, rabbit: Rabbit, amqp_url: str
) -> None:
    """A booking reaches a webhook, a new member converts a lead, and every outbox ends up empty."""
    urls = broker_urls(rabbit, amqp_url)
    studio = bookable()
    with separate_services(tmp_path, database_url, urls) as running:
        async with new_studio_in(running) as system, receiving() as receiver:
            await system.import_lines(studio.lines)
            client = system.partner(await system.key())
            endpoint = {"url": receiver.url, "event_types": ["booking.created", "lead.updated"]}
            assert (await client.post("/webhook-endpoints", endpoint)).status == 201
            assert (await client.book(studio.class_ids[0], studio.member_ids[0])).status == 201
            assert (await client.post("/leads", {"email": "p@example.com"})).status == 201
            member = {"email": "p@example.com", "first_name": "P", "last_name": "Q"}
            assert (await client.post("/members", member)).status == 201
            await receiver.until_count(2, seconds=120)
            assert (await client.get("/leads")).json()["data"][0]["status"] == "converted"
            await eventually(lambda: _all_empty(database_url))


async def _all_empty(database_url: str) -> bool:
    """A producer's row stays until the reply has come back to it."""
    async with connected(database_url) as connection:
        return not await connection.fetchval(WAITING)
