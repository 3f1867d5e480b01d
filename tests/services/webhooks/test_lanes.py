"""Lanes: an endpoint delays only itself, leases are fenced, and an open breaker uses up no attempts."""

import asyncio
import time
from itertools import pairwise
from statistics import median
from unittest.mock import ANY

from aiohttp import web

from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.store import attempts, lane_batches, lanes
from services.webhooks.store.attempts import Completed
from services.webhooks.store.day_tables import DayTables
from services.webhooks.store.lane_batches import Release, Wanted
from shared.wire import new_id, now
from tests.harness.eventually import eventually
from tests.harness.receiver import Received, Receiver, answering, hang
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, open_studio_client, statuses


async def test_a_hanging_endpoint_delays_nobody_else(
    client: StudioClient, receiver: Receiver, second_receiver: Receiver
) -> None:
    """The healthy one gets everything while the other one's first attempts still hang."""
    receiver.answer = hang
    await client.endpoint(receiver.url)
    await client.endpoint(second_receiver.url)
    started = time.perf_counter()
    await client.publish_some(200)
    await second_receiver.until_count(200)
    assert time.perf_counter() - started < 10
    assert receiver.count <= 2, "and it holds few connections until it has shown that it answers"


async def test_a_new_event_overtakes_a_hanging_one_of_the_same_endpoint(
    client: StudioClient, receiver: Receiver
) -> None:
    """Without `fifo`, a slow response does not delay later events."""
    slow = asyncio.Event()

    async def answer(got: Received) -> web.StreamResponse:
        if got.sequence == 1:
            await slow.wait()
        return web.Response()

    receiver.answer = answer
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
    """Attempts are never closer together than it allows."""
    await client.endpoint(receiver.url, rate_limit=20)
    await client.publish_some(10)
    got = await receiver.until_count(10)
    gaps = [later.at - earlier.at for earlier, later in pairwise(got)]
    # A busy machine may notice one attempt late, which makes the next gap shorter.
    assert sum(gaps) >= 9 / 20 * 0.8
    assert median(gaps) > 0.8 / 20


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
    receiver.answer = answering(503)
    async with open_studio_client(database_url, webhook_retry_schedule=(30.0, 30.0)) as client:
        endpoint = await client.endpoint(receiver.url)
        await client.publish_some(40)

        async def paused() -> bool:
            return bool(await client.sql("SELECT 1 FROM lanes WHERE paused_until > now() + interval '20 s'"))

        await eventually(paused)
        found = await client.deliveries(endpoint["id"])
        assert 5 <= receiver.count <= 8
        assert sum(d["attempt_count"] for d in found) == receiver.count
        assert sum(d["attempt_count"] == 0 for d in found) >= 32, "these wait untouched"
        receiver.answer = answering(200)
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


async def test_a_dispatcher_that_lost_its_lease_writes_nothing(client: StudioClient) -> None:
    """The fence: a completion with an old token, or an old attempt count, is refused."""
    endpoint = await client.endpoint("https://partner.example/hook")
    mine = lanes.Lease(endpoint["id"], client.studio_id, await hold_lanes(client))
    await client.publish_some(1)
    async with client.context.db.connection() as conn:
        [delivery] = await client.deliveries(endpoint["id"])
        created_at = await conn.fetchval("SELECT created_at FROM events")

        def result(lease: lanes.Lease, count: int) -> Completed:
            return Completed(
                lease=lease,
                delivery_id=delivery["id"],
                event_created_at=created_at,
                attempt_count=count,
                status="succeeded",
                step=0,
                next_attempt_at=None,
                attempt="{}",
            )

        stale, count = lanes.Lease(endpoint["id"], client.studio_id, new_id()), delivery["attempt_count"]
        assert await attempts.complete(conn, DayTables(), [result(stale, count)]) == set()
        assert await attempts.complete(conn, DayTables(), [result(mine, count + 1)]) == set()
        written = await attempts.complete(conn, DayTables(), [result(mine, count)])
        assert written == {delivery["id"]}
        assert await lane_batches.load(conn, DayTables(), [Wanted(stale, [], 0), Wanted(mine, [], 0)]) == [
            None,
            ANY,
        ]


async def test_a_lane_with_new_events_since_the_last_query_is_not_released(client: StudioClient) -> None:
    """No lost wake-up: an event stored between the refill and the release keeps the lane leased."""
    endpoint = await client.endpoint("https://partner.example/hook")
    lease = lanes.Lease(endpoint["id"], client.studio_id, await hold_lanes(client))
    async with client.context.db.connection() as conn:
        [seen] = await lane_batches.load(conn, DayTables(), [Wanted(lease, [], 2)])
        assert seen is not None and seen.due == []
        await client.publish_some(1)
        assert await lane_batches.release(
            conn, DayTables(), [Release(lease, seen.target, Breaker(), now())]
        ) == [False]
        [again] = await lane_batches.load(conn, DayTables(), [Wanted(lease, [], 2)])
        assert again is not None and len(again.due) == 1
        assert await lane_batches.release(
            conn, DayTables(), [Release(lease, again.target, Breaker(), now())]
        ) == [True]


async def test_a_lane_that_is_released_too_early_is_looked_at_again(client: StudioClient) -> None:
    """Its days are not forgotten, so the delivery that was missed is found soon."""
    endpoint = await client.endpoint("https://partner.example/hook")
    lease = lanes.Lease(endpoint["id"], client.studio_id, await hold_lanes(client))
    await client.publish_some(1)
    async with client.context.db.connection() as conn:
        [seen] = await lane_batches.load(conn, DayTables(), [Wanted(lease, [], 2)])
        assert seen is not None
        release = Release(lease, seen.target, Breaker(), now(), drained=True)
        assert await lane_batches.release(conn, DayTables(), [release]) == [True]
        row = await conn.fetchrow(
            "SELECT due_at BETWEEN now() AND now() + interval '10 s' AS soon,"
            " open_since <= open_until AS open FROM lanes"
        )
        assert dict(row or {}) == {"soon": True, "open": True}


async def test_another_dispatcher_takes_over_when_one_is_gone(database_url: str, receiver: Receiver) -> None:
    """A lease that is not renewed expires, and another owner continues: at least once, same id."""
    async with open_studio_client(database_url) as client:
        endpoint = await client.endpoint(receiver.url)
        dead = new_id()
        await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '700 ms'", dead)
        await client.publish_some(3)
        assert statuses(await client.deliveries(endpoint["id"])) == ["pending"] * 3
        await receiver.until_count(3)


async def test_a_dead_dispatchers_lease_does_not_survive_a_clock_that_is_set_back(
    client: StudioClient, receiver: Receiver
) -> None:
    """Its lease seems to last 59 minutes more, which is longer than any real lease."""
    await client.endpoint(receiver.url)
    await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '59 minutes'", new_id())
    [event_id] = await client.publish_some(1)
    await client.sql("UPDATE lanes SET due_at = now() + interval '59 minutes'")
    async with client.context.db.connection() as conn:
        await lanes.end_impossible_leases(conn)
    await receiver.until(lambda got: [each.event_id for each in got.received] == [event_id])


async def test_two_replicas_share_the_work_and_send_nothing_twice(
    database_url: str, receiver: Receiver
) -> None:
    """Each lane has one owner at a time, so nothing is sent twice in normal operation."""
    async with open_studio_client(database_url) as one, open_studio_client(database_url) as two:
        two.studio_id, two.client_id = one.studio_id, one.client_id
        for _ in range(6):
            await one.endpoint(receiver.url)
        await asyncio.gather(one.publish_some(50), two.publish_some(50))
        await receiver.until_count(600)

        async def all_done() -> bool:
            rows = await one.sql("SELECT count(*) AS n FROM deliveries WHERE status = 'succeeded'")
            return bool(rows[0]["n"] == 600)

        await eventually(all_done)
        assert receiver.count == 600


async def test_five_days_of_nothing_but_failures_disable_an_endpoint(
    client: StudioClient, receiver: Receiver
) -> None:
    """A success in between resets the count."""
    receiver.answer = answering(500, 200, 500)
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
