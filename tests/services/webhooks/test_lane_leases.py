"""The leases of lanes: fenced, renewed, taken over, and never released with work that was not seen."""

from datetime import timedelta
from unittest.mock import ANY

import pytest

from services.webhooks.rules.retry import Breaker
from services.webhooks.store import attempts, lanes
from services.webhooks.store.attempts import Completed, Wanted
from services.webhooks.store.lanes import Release
from shared.wire import new_id, now
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, hang
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, open_studio_client, statuses


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
                wait_seconds=None,
                attempt="{}",
            )

        stale, count = lanes.Lease(endpoint["id"], client.studio_id, new_id()), delivery["attempt_count"]
        assert await attempts.complete(conn, [result(stale, count)]) == set()
        assert await attempts.complete(conn, [result(mine, count + 1)]) == set()
        written = await attempts.complete(conn, [result(mine, count)])
        assert written == {delivery["id"]}
        assert await attempts.load(conn, [Wanted(stale, [], 0), Wanted(mine, [], 0)]) == [
            None,
            ANY,
        ]


async def test_a_lane_with_new_events_since_the_last_load_is_due_at_once(client: StudioClient) -> None:
    """No lost wake-up: an event stored between the load and the release is not left waiting."""
    endpoint = await client.endpoint("https://partner.example/hook")
    token = await hold_lanes(client)
    lease = lanes.Lease(endpoint["id"], client.studio_id, token)
    async with client.context.db.connection() as conn:
        [seen] = await attempts.load(conn, [Wanted(lease, [], 2)])
        assert seen is not None and seen.due == []
        await client.publish_some(1)
        async with conn.transaction():
            release = Release(lease, seen.target.wakes, True, Breaker(), now())
            assert await lanes.release(conn, [release]) == [True]
            await conn.execute("UPDATE lanes SET token = $1, leased_until = now() + interval '55 s'", token)
        [again] = await attempts.load(conn, [Wanted(lease, [], 2)])
        assert again is not None and len(again.due) == 1
        await conn.execute("UPDATE deliveries SET status = 'succeeded'")
        release = Release(lease, again.target.wakes, True, Breaker(), now())
        assert await lanes.release(conn, [release]) == [False]
        assert await conn.fetchval("SELECT due_at = 'infinity' FROM lanes")


async def test_a_lane_that_is_released_while_its_event_is_being_stored_is_due_at_once(
    client: StudioClient,
) -> None:
    """The event's delivery is not visible to the release, but the lane says that there is one."""
    endpoint = await client.endpoint("https://partner.example/hook")
    lease = lanes.Lease(endpoint["id"], client.studio_id, await hold_lanes(client))
    db = client.context.db
    async with db.connection() as conn:
        [seen] = await attempts.load(conn, [Wanted(lease, [], 2)])
        assert seen is not None
        release = Release(lease, seen.target.wakes, True, Breaker(), now())
        async with db.transaction() as event_log:
            await event_log.execute("UPDATE lanes SET wakes = wakes + 1, due_at = least(due_at, now())")
            assert await lanes.release(conn, [release]) == [None], "it is locked"
        assert await lanes.release(conn, [release]) == [True]


async def test_a_lane_that_is_released_too_early_is_looked_at_again(client: StudioClient) -> None:
    """The delivery that was missed is found soon."""
    endpoint = await client.endpoint("https://partner.example/hook")
    lease = lanes.Lease(endpoint["id"], client.studio_id, await hold_lanes(client))
    await client.publish_some(1)
    async with client.context.db.connection() as conn:
        [seen] = await attempts.load(conn, [Wanted(lease, [], 2)])
        assert seen is not None
        release = Release(lease, seen.target.wakes, True, Breaker(), now())
        assert await lanes.release(conn, [release]) == [False]
        assert await conn.fetchval("SELECT due_at BETWEEN now() AND now() + interval '10 s' FROM lanes")


async def test_another_dispatcher_takes_over_when_one_is_gone(database_url: str, receiver: Receiver) -> None:
    """A lease that is not renewed expires, and another owner continues: at least once, same id."""
    async with open_studio_client(database_url) as client:
        endpoint = await client.endpoint(receiver.url)
        dead = new_id()
        await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '700 ms'", dead)
        await client.publish_some(3)
        assert statuses(await client.deliveries(endpoint["id"])) == ["pending"] * 3
        await receiver.until_count(3)


async def test_a_lease_lasts_for_seconds_and_is_renewed(client: StudioClient, receiver: Receiver) -> None:
    """The endpoints of a killed dispatcher wait for seconds only, and a busy one keeps its own."""
    receiver.answer = hang
    await client.endpoint(receiver.url)
    await client.publish_some(1)
    await receiver.until_count(1)
    left = "SELECT leased_until, leased_until < now() + interval '12 s' AS short, token::text FROM lanes"
    [first] = await client.sql(left)
    assert first["short"]

    async def renewed() -> bool:
        [lane] = await client.sql(left)
        return bool(lane["leased_until"] > first["leased_until"] and lane["token"] == first["token"])

    await eventually(renewed)


async def test_a_dispatcher_whose_clock_is_an_hour_ahead_writes_times_of_the_database(
    client: StudioClient,
) -> None:
    """It says how long to wait, and the database's clock says until when. A pause is read the same way."""
    endpoint = await client.endpoint("https://partner.example/hook")
    token = await hold_lanes(client)
    await client.publish_some(1)
    lease = lanes.Lease(endpoint["id"], client.studio_id, token)
    ahead = now() + timedelta(hours=1)
    async with client.context.db.connection() as conn:
        [loaded] = await attempts.load(conn, [Wanted(lease, [], 2)])
        assert loaded is not None
        [due] = loaded.due
        failed = Completed(
            lease=lease,
            delivery_id=due.id,
            event_created_at=due.event_created_at,
            attempt_count=0,
            status="pending",
            step=1,
            wait_seconds=300.0,
            attempt="{}",
        )
        assert await attempts.complete(conn, [failed]) == {due.id}
        breaker = Breaker(pauses=1, paused_until=ahead + timedelta(seconds=200))
        release = Release(lease, loaded.target.wakes, True, breaker, ahead)
        assert await lanes.release(conn, [release]) == [False]
        retry = await conn.fetchval("SELECT extract(epoch FROM next_attempt_at - now()) FROM deliveries")
        lane = await conn.fetchval("SELECT extract(epoch FROM due_at - now()) FROM lanes")
        assert 100 < retry <= 300
        assert 100 < lane <= 200
        # The service's own dispatcher could be faster.
        await conn.execute("BEGIN")
        await conn.execute("UPDATE lanes SET due_at = now()")
        [(_, claimed)] = await lanes.claim(conn, token, 1)
        await conn.execute("ROLLBACK")
    assert claimed.pause_left(now()) == pytest.approx(float(lane), abs=60)
