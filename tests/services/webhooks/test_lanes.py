"""Lanes: an endpoint delays only itself, and an open breaker uses up no attempts."""

import asyncio
import time
from itertools import pairwise
from statistics import median

from aiohttp import web

from tests.harness.eventually import eventually
from tests.harness.receiver import Received, Receiver, answering, hang
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, open_studio_client, statuses


async def test_a_hanging_endpoint_delays_nobody_else(
    client: StudioClient, receiver: Receiver, second_receiver: Receiver
) -> None:
    """The healthy one gets everything while the other one's first attempts still hang."""
    receiver.response = hang
    await client.endpoint(receiver.url)
    await client.endpoint(second_receiver.url)
    started = time.perf_counter()
    await client.publish_some(60)
    await second_receiver.until_count(60)
    assert time.perf_counter() - started < 10
    assert receiver.count <= 2, "and it holds few connections until it has shown that it answers"


async def test_a_new_event_overtakes_a_hanging_one_of_the_same_endpoint(
    client: StudioClient, receiver: Receiver
) -> None:
    """Without `fifo`, a slow response does not delay later events."""
    slow = asyncio.Event()

    async def response(got: Received) -> web.StreamResponse:
        if got.sequence == 1:
            await slow.wait()
        return web.Response()

    receiver.response = response
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    await receiver.until_count(1)
    await client.publish_some(3)
    await client.until_deliveries(
        endpoint["id"], lambda ds: statuses(ds) == ["pending", "succeeded", "succeeded", "succeeded"]
    )
    slow.set()
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 4)
    assert receiver.count == 4, "nothing was sent twice"


async def test_the_rate_limit_of_an_endpoint_is_kept(client: StudioClient, receiver: Receiver) -> None:
    """Attempts are never closer together than it allows.

    Also when the lane has nothing to do in between, so that it is leased anew for each of the first events.
    """
    await client.endpoint(receiver.url, rate_limit=5)
    for number in range(4):
        await client.publish_some(1)
        await receiver.until_count(number + 1)
        await eventually(lambda: client.sql("SELECT FROM lanes WHERE token IS NULL"))
    await client.publish_some(4)
    got = await receiver.until_count(8)
    for some in (got[:4], got[4:]):
        gaps = [later.at - earlier.at for earlier, later in pairwise(some)]
        # A busy machine may notice one attempt late, which makes the next gap shorter.
        assert sum(gaps) >= 3 / 5 * 0.8
        assert median(gaps) > 0.8 / 5


async def test_a_changed_rate_limit_applies_at_once(client: StudioClient, receiver: Receiver) -> None:
    """A lane that waits ten seconds for its rate limit notices the new one. Under 0.1 a second is refused."""
    endpoint = await client.endpoint(receiver.url, rate_limit=0.1)
    await client.publish_some(5)
    await receiver.until_count(1)
    path = f"/webhook-endpoints/{endpoint['id']}"
    assert (await client.call("PATCH", path, {"rate_limit": 1e-6})).status == 422
    assert (await client.call("PATCH", path, {"rate_limit": 1000})).status == 200
    await receiver.until_count(5, seconds=5)


async def test_a_breaker_opens_and_its_pause_costs_no_attempts(database_url: str, receiver: Receiver) -> None:
    """With 40 deliveries waiting, a failing endpoint sees a handful of requests and then single ones."""
    receiver.response = answering(503)
    async with open_studio_client(database_url, webhook_retry_schedule=(30.0, 30.0)) as client:
        endpoint = await client.endpoint(receiver.url)
        await client.publish_some(40)
        paused = "SELECT 1 FROM lanes WHERE paused_until > now() + interval '20 s'"
        await eventually(lambda: client.sql(paused))
        found = await client.deliveries(endpoint["id"])
        assert 5 <= receiver.count <= 8
        assert sum(d["attempt_count"] for d in found) == receiver.count
        assert sum(d["attempt_count"] == 0 for d in found) >= 32, "these wait untouched"
        receiver.response = answering(200)
        await client.sql("UPDATE lanes SET paused_until = now(), due_at = now()")
        await receiver.until_count(40)


async def test_first_attempts_are_not_starved_by_overdue_retries(
    client: StudioClient, receiver: Receiver
) -> None:
    """A thousand overdue retries of the same endpoint: a new event is among the next few requests."""
    await client.endpoint(receiver.url, rate_limit=200)
    await hold_lanes(client)
    await client.publish_some(400)
    await client.sql("UPDATE deliveries SET step = 1, next_attempt_at = now() - interval '1 hour'")
    await client.publish_some(1)
    await client.sql("UPDATE lanes SET leased_until = NULL")
    await receiver.until(lambda r: any(got.sequence == 401 for got in r.received))
    place = [got.sequence for got in receiver.received].index(401)
    assert place < 64


async def test_two_replicas_share_the_work_and_send_nothing_twice(
    database_url: str, receiver: Receiver
) -> None:
    """Each lane has one owner at a time, so nothing is sent twice in normal operation."""
    async with open_studio_client(database_url) as one, open_studio_client(database_url) as two:
        two.studio_id, two.client_id = one.studio_id, one.client_id
        for _ in range(6):
            await one.endpoint(receiver.url)
        await asyncio.gather(one.publish_some(15), two.publish_some(15))
        await receiver.until_count(180)
        all_done = "SELECT 1 FROM deliveries HAVING bool_and(status = 'succeeded')"
        await eventually(lambda: one.sql(all_done))
        assert receiver.count == 180


async def test_five_days_of_nothing_but_failures_disable_an_endpoint(
    client: StudioClient, receiver: Receiver
) -> None:
    """A success in between resets the count."""
    receiver.response = answering(500, 200, 500)
    endpoint = await client.endpoint(receiver.url)
    long_ago = "UPDATE lanes SET failing_since = now() - interval '6 days', last_failed_at = now()"
    await client.sql(long_ago)
    await client.publish_some(1)

    async def reason() -> str | None:
        shown = (await client.call("GET", f"/webhook-endpoints/{endpoint['id']}")).json()
        found: str | None = shown["disabled_reason"]
        return found

    assert await eventually(reason) == "failing"
    await client.call("PATCH", f"/webhook-endpoints/{endpoint['id']}", {"status": "enabled"})
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"])
    await client.publish_some(1)
    await receiver.until_count(4)
    assert await reason() is None
