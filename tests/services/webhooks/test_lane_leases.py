"""The leases of lanes: fenced, renewed, taken over, and never released with work that was not seen."""

from datetime import timedelta
from unittest.mock import ANY

import pytest
from msgspec import structs

from services.webhooks.rules.retry import Breaker, NextStep
from services.webhooks.store import attempts, lanes
from services.webhooks.store.attempts import Completed, Loaded, Wanted
from services.webhooks.store.lanes import Lease, Release
from shared.db.database import Connection
from shared.wire import new_id, now
from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, hang
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, open_studio_client, statuses


async def held_lane(client: StudioClient, events: int = 0) -> Lease:
    """An endpoint's lane, leased to the test, with deliveries that no dispatcher touches."""
    endpoint = await client.endpoint("https://partner.example/hook")
    lease = Lease(endpoint["id"], client.studio_id, await hold_lanes(client))
    if events:
        await client.publish_some(events)
    return lease


async def load(conn: Connection, lease: Lease) -> Loaded:
    [loaded] = await attempts.load(conn, [Wanted(lease, [], 2)])
    assert loaded is not None
    return loaded


async def release(conn: Connection, lease: Lease, loaded: Loaded) -> list[bool | None]:
    return await lanes.release(conn, [Release(lease, loaded.target.wakes, True, Breaker(), now())])


SUCCEEDED = NextStep("succeeded", 0, None)


async def test_a_dispatcher_that_lost_its_lease_writes_nothing(client: StudioClient) -> None:
    """The fence: a completion with an old token, or an old attempt count, is refused."""
    mine = await held_lane(client, events=1)
    stale = Lease(mine.endpoint_id, mine.studio_id, new_id())
    async with client.context.db.connection() as conn:
        [due] = (await load(conn, mine)).due
        later = structs.replace(due, attempt_count=due.attempt_count + 1)
        for lease, attempted, written in ((stale, due, False), (mine, later, False), (mine, due, True)):
            result = Completed(lease, attempted, SUCCEEDED, "{}")
            assert await attempts.complete(conn, [result]) == [written]
        assert await attempts.load(conn, [Wanted(stale, [], 0), Wanted(mine, [], 0)]) == [None, ANY]


READ = """
SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::int FROM pg_stat_xact_user_tables
WHERE relname LIKE 'events\\_%' OR relname LIKE 'deliveries\\_%'
"""


@pytest.mark.parametrize("fifo", [False, True])
async def test_a_load_reads_what_it_takes_however_much_waits(
    client: StudioClient, database_url: str, fifo: bool
) -> None:
    """Also while the statistics say that nothing waits, when sorting it all looks cheap to the planner."""
    lease = await held_lane(client, events=300)
    async with connected(database_url) as owner:
        await owner.execute("UPDATE webhooks.deliveries SET status = 'succeeded'")
        await owner.execute("ANALYZE webhooks.deliveries")
    await client.publish_some(100)
    async with client.context.db.connection() as conn, conn.transaction():
        before = await conn.fetchval(READ)
        due = await attempts.in_order(conn, lease.endpoint_id, 2) if fifo else (await load(conn, lease)).due
        assert [one.sequence for one in due] == ([301, 302] if fifo else [301])
        assert await conn.fetchval(READ) - before <= 10


async def test_a_lane_with_new_events_since_the_last_load_is_due_at_once(client: StudioClient) -> None:
    """No lost wake-up: an event stored between the load and the release is not left waiting."""
    lease = await held_lane(client)
    async with client.context.db.connection() as conn:
        seen = await load(conn, lease)
        assert seen.due == []
        await client.publish_some(1)
        async with conn.transaction():
            assert await release(conn, lease, seen) == [True]
            held = "UPDATE lanes SET token = $1, leased_until = now() + interval '55 s'"
            await conn.execute(held, lease.token)
        again = await load(conn, lease)
        assert len(again.due) == 1
        await conn.execute("UPDATE deliveries SET status = 'succeeded'")
        assert await release(conn, lease, again) == [False]
        assert await conn.fetchval("SELECT due_at = 'infinity' FROM lanes")


async def test_a_lane_that_is_released_too_early_is_looked_at_again(client: StudioClient) -> None:
    """The delivery that was missed is found soon."""
    lease = await held_lane(client, events=1)
    async with client.context.db.connection() as conn:
        assert await release(conn, lease, await load(conn, lease)) == [False]
        assert await conn.fetchval("SELECT due_at BETWEEN now() AND now() + interval '10 s' FROM lanes")


async def test_lanes_are_released_in_one_statement_that_skips_locked_ones(client: StudioClient) -> None:
    """The event log locks many lanes in its own order: waiting for one while holding others is a deadlock."""
    made = [(await held_lane(client)).endpoint_id for _ in range(3)]
    token = await hold_lanes(client)
    held = [Lease(endpoint_id, client.studio_id, token) for endpoint_id in made]
    lost = Lease(made[0], client.studio_id, new_id())
    db = client.context.db
    async with db.transaction() as event_log, db.connection() as conn:
        await event_log.execute("UPDATE lanes SET wakes = wakes WHERE endpoint_id = $1", made[1])
        releases = [
            Release(lease, (await load(conn, seen)).target.wakes, True, Breaker(), now())
            for lease, seen in zip([*held, lost], [*held, held[0]], strict=True)
        ]
        assert await lanes.release(conn, releases) == [False, None, False, False]


async def test_another_dispatcher_takes_over_when_one_is_gone(
    client: StudioClient, receiver: Receiver
) -> None:
    """A lease that is not renewed expires, and another owner continues: at least once, same id."""
    endpoint = await client.endpoint(receiver.url)
    await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '700 ms'", new_id())
    await client.publish_some(3)
    assert statuses(await client.deliveries(endpoint["id"])) == ["pending"] * 3
    await receiver.until_count(3)


async def test_a_lease_lasts_for_seconds_and_is_renewed(
    database_url: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The endpoints of a killed dispatcher wait for seconds only, and a busy one keeps its own."""
    monkeypatch.setattr(lanes, "RENEW_SECONDS", 0.2)
    receiver.response = hang
    async with open_studio_client(database_url) as client:
        await client.endpoint(receiver.url)
        await client.publish_some(1)
        await receiver.until_count(1)
        left = "SELECT leased_until, leased_until < now() + interval '12 s' AS short, token::text FROM lanes"
        [first] = await client.sql(left)
        assert first["short"]
        renewed = "SELECT 1 FROM lanes WHERE leased_until > $1 AND token = $2"
        await eventually(lambda: client.sql(renewed, first["leased_until"], first["token"]))


async def test_a_dispatcher_whose_clock_is_an_hour_ahead_writes_times_of_the_database(
    client: StudioClient,
) -> None:
    """It says how long to wait, and the database's clock says until when. A pause is read the same way."""
    lease = await held_lane(client, events=1)
    ahead = now() + timedelta(hours=1)
    async with client.context.db.connection() as conn:
        loaded = await load(conn, lease)
        failed = Completed(lease, loaded.due[0], NextStep("pending", 1, 300.0), "{}")
        assert await attempts.complete(conn, [failed]) == [True]
        breaker = Breaker(pauses=1, paused_until=ahead + timedelta(seconds=200))
        paused = Release(lease, loaded.target.wakes, True, breaker, ahead)
        assert await lanes.release(conn, [paused]) == [False]
        retry = await conn.fetchval("SELECT extract(epoch FROM next_attempt_at - now()) FROM deliveries")
        lane = await conn.fetchval("SELECT extract(epoch FROM due_at - now()) FROM lanes")
        assert 100 < retry <= 300
        assert 100 < lane <= 200
        # The service's own dispatcher could be faster.
        await conn.execute("BEGIN")
        await conn.execute("UPDATE lanes SET due_at = now()")
        [(_, claimed)] = await lanes.claim(conn, lease.token, 1)
        await conn.execute("ROLLBACK")
    assert claimed.pause_left(now()) == pytest.approx(float(lane), abs=60)
