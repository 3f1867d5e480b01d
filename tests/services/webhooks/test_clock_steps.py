"""Clocks that are wrong or set back: no retry and no pause lasts longer than it should.

The tests cannot set the server's clock. They move everything that it has stored an hour ahead instead, which
is the same.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from services.webhooks.actions.follow_clock import follow_clock
from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.store import attempts, clock, lane_batches, lanes
from services.webhooks.store.attempts import Completed
from services.webhooks.store.day_tables import DayTables
from services.webhooks.store.lane_batches import Release, Wanted
from shared.wire import now
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, open_studio_client

HOUR = 3600
WAITING = "UPDATE deliveries SET step = 1, next_attempt_at = now() + $1 * interval '1 s' WHERE sequence = 1"
RELEASED = """
UPDATE lanes SET token = NULL, leased_until = NULL, due_at = now() + $1 * interval '1 s',
       paused_until = CASE WHEN $2 THEN now() + $1 * interval '1 s' END
"""
SEEN = "UPDATE clock SET seen_at = now() + $1 * interval '1 s'"
# In front of the real one: an hour behind what `now()` says.
STEPPED = """
CREATE SCHEMA stepped;
CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql
RETURN pg_catalog.clock_timestamp() - interval '1 hour'
"""
WAITS = """
SELECT l.endpoint_id::text, extract(epoch FROM d.next_attempt_at - now())::float8 AS retry,
       extract(epoch FROM l.due_at - now())::float8 AS lane
FROM lanes l JOIN deliveries d ON d.endpoint_id = l.endpoint_id AND d.step = 1 ORDER BY l.endpoint_id
"""


@pytest.fixture
async def log_only(database_url: str) -> AsyncIterator[StudioClient]:
    """Without a dispatcher, so that the tests correct the times themselves."""
    async with open_studio_client(database_url, webhooks_only="log") as client:
        yield client


async def retry_in(client: StudioClient, seconds: float, *, paused: bool = False) -> None:
    """The first delivery of every endpoint has failed and is retried then."""
    async with client.context.db.transaction() as conn:
        await conn.execute(WAITING, float(seconds))
        await conn.execute(RELEASED, float(seconds), paused)


async def waits(client: StudioClient) -> list[tuple[float, float]]:
    """How long each endpoint's retry and lane still wait."""
    return [(row["retry"], row["lane"]) for row in await client.sql(WAITS)]


@pytest.mark.parametrize("paused", [False, True], ids=["retry", "circuit-breaker"])
async def test_a_fifo_endpoint_goes_on_when_the_clock_is_set_back_an_hour(
    client: StudioClient, receiver: Receiver, *, paused: bool
) -> None:
    """Its head is a retry, or its lane is paused: it would stand still for an hour."""
    await client.endpoint(receiver.url, fifo=True)
    await hold_lanes(client)
    ids = await client.publish_some(3)
    await retry_in(client, HOUR + 1, paused=paused)
    await client.sql(SEEN, float(HOUR))
    await receiver.until_count(3)
    assert [got.event_id for got in receiver.received] == ids


async def test_what_was_not_due_yet_keeps_its_wait(log_only: StudioClient) -> None:
    """Half an hour stays half an hour. Several dispatchers, and a second look, change nothing more."""
    await log_only.endpoint("https://partner.example/one")
    await log_only.endpoint("https://partner.example/two")
    await log_only.publish_some(1)
    await retry_in(log_only, HOUR + 1800)
    await log_only.sql(SEEN, float(HOUR))
    await asyncio.gather(*(follow_clock(log_only.context) for _ in range(4)))
    assert not await follow_clock(log_only.context)
    for pair in await waits(log_only):
        assert all(1500 < wait <= 1800 for wait in pair), pair


async def test_without_a_step_nothing_is_moved(log_only: StudioClient) -> None:
    """A long wait alone is no reason: a receiver may ask for a day. Nor is a clock that is set forward."""
    await log_only.endpoint("https://partner.example/hook")
    await log_only.publish_some(1)
    await retry_in(log_only, HOUR)
    await log_only.sql(SEEN, float(-HOUR))
    assert not await follow_clock(log_only.context)
    [row] = await log_only.sql(
        "SELECT seen_at BETWEEN now() - interval '1 min' AND now() AS noted FROM clock"
    )
    assert row["noted"], "and it is noted how far the clock has come"
    [pair] = await waits(log_only)
    assert all(wait > HOUR - 300 for wait in pair)


async def test_a_dispatcher_that_is_killed_in_between_leaves_the_rest_to_the_next(
    log_only: StudioClient,
) -> None:
    """Each lane is moved once: those that are done are recorded with the change itself."""
    for name in ("one", "two", "three"):
        await log_only.endpoint(f"https://partner.example/{name}")
    await log_only.publish_some(1)
    await retry_in(log_only, 2 * HOUR + 1800)
    await log_only.sql(SEEN, float(HOUR))
    async with log_only.context.db.connection() as conn:
        assert await clock.begin_shift(conn) is not None
        assert await clock.begin_shift(conn) is None, "recorded once"
    async with log_only.context.db.transaction() as conn:
        shift = await clock.claim_shift(conn)
        assert shift is not None and await clock.shift_next_batch(conn, shift)
    assert sorted(round(retry / HOUR, 1) for retry, _ in await waits(log_only)) == [1.5, 2.5, 2.5]
    await follow_clock(log_only.context)
    for pair in await waits(log_only):
        assert all(HOUR + 1500 < wait <= HOUR + 1800 for wait in pair), pair


async def test_a_long_lane_is_moved_in_batches_each_retry_once(log_only: StudioClient) -> None:
    """Results of the lane would wait for one long transaction. Many retries are due at the same moment."""
    await log_only.endpoint("https://partner.example/hook")
    await log_only.publish_some(7)
    await retry_in(log_only, 2 * HOUR + 1800)
    await log_only.sql(
        "UPDATE deliveries SET step = 1,"
        " next_attempt_at = now() + (CASE WHEN sequence < 6 THEN 9000 ELSE 12600 END) * interval '1 s'"
    )
    await log_only.sql(SEEN, float(HOUR))
    async with log_only.context.db.connection() as conn:
        assert await clock.begin_shift(conn) is not None
    moved = []
    for _ in range(4):
        async with log_only.context.db.transaction() as conn:
            shift = await clock.claim_shift(conn)
            assert shift is not None and await clock.shift_next_batch(conn, shift, 2)
        moved.append(sorted(round(retry / HOUR, 1) for retry, _ in await waits(log_only)))
    assert moved == [
        [1.5] * 2 + [2.5] * 3 + [3.5] * 2,
        [1.5] * 4 + [2.5] * 1 + [3.5] * 2,
        [1.5] * 5 + [2.5] * 1 + [3.5] * 1,
        [1.5] * 5 + [2.5] * 2,
    ]
    assert not await follow_clock(log_only.context)
    assert {round(lane / HOUR, 1) for _, lane in await waits(log_only)} == {1.5}
    [row] = await log_only.sql("SELECT shift_seconds, shifted_until, last_endpoint_id, last_id FROM clock")
    assert set(row.values()) == {None}, "the shift is done"


async def test_a_second_step_while_retries_are_moved_is_followed_too(log_only: StudioClient) -> None:
    """An hour, and then half an hour before the first is done."""
    await log_only.endpoint("https://partner.example/hook")
    await log_only.publish_some(1)
    await retry_in(log_only, HOUR + 1800 + 1800)
    await log_only.sql(SEEN, float(HOUR))
    async with log_only.context.db.connection() as conn:
        assert await clock.begin_shift(conn) is not None
    await log_only.sql("UPDATE clock SET seen_at = seen_at + interval '30 min'")
    for _ in range(2):
        await follow_clock(log_only.context)
    [pair] = await waits(log_only)
    assert all(1500 < wait <= 1810 for wait in pair), pair


async def test_a_step_in_the_middle_of_a_look_is_seen_by_the_next_one(database_url: str) -> None:
    """The statement's own two readings of the clock are an hour apart."""
    conn: Any = await asyncpg.connect(database_url)
    try:
        await conn.execute(STEPPED)
        await conn.execute("SET search_path = webhooks")
        await conn.execute(SEEN, -2.0)
        seen = await conn.fetchval("SELECT seen_at FROM clock")
        await conn.execute("SET search_path = stepped, webhooks, pg_catalog")
        assert not await clock.note(conn)
        assert await conn.fetchval("SELECT seen_at FROM clock") == seen
    finally:
        await conn.close()


async def test_a_lane_is_not_released_with_the_times_from_before_the_shift(log_only: StudioClient) -> None:
    """A release that began before the shift still sees the old times, so the lane is loaded again."""
    await log_only.endpoint("https://partner.example/hook")
    await log_only.publish_some(1)
    await retry_in(log_only, HOUR + 1800)
    token = await hold_lanes(log_only)
    [row] = await log_only.sql("SELECT endpoint_id::text FROM lanes")
    lease = lanes.Lease(row["endpoint_id"], log_only.studio_id, token)
    async with log_only.context.db.connection() as conn:
        [before] = await lane_batches.load(conn, DayTables(), [Wanted(lease, [], 2)])
        await log_only.sql(SEEN, float(HOUR))
        await follow_clock(log_only.context)
        [after] = await lane_batches.load(conn, DayTables(), [Wanted(lease, [], 2)])
        assert before is not None and after is not None
        assert await lane_batches.release(
            conn, DayTables(), [Release(lease, before.target, Breaker(), now())]
        ) == [False]
        assert await lane_batches.release(
            conn, DayTables(), [Release(lease, after.target, Breaker(), now())]
        ) == [True]
    [pair] = await waits(log_only)
    assert all(1500 < wait <= 1810 for wait in pair), pair


async def test_a_dispatcher_whose_clock_is_an_hour_ahead_writes_times_of_the_database(
    log_only: StudioClient,
) -> None:
    """It says how long to wait, and the database's clock says until when. A pause is read the same way."""
    await log_only.endpoint("https://partner.example/hook")
    await log_only.publish_some(1)
    token = await hold_lanes(log_only)
    [row] = await log_only.sql("SELECT id::text, endpoint_id::text, event_created_at FROM deliveries")
    lease = lanes.Lease(row["endpoint_id"], log_only.studio_id, token)
    failed: dict[str, Any] = {"attempt_count": 0, "status": "pending", "step": 1, "attempt": "{}"}
    ahead = now() + timedelta(hours=1)
    async with log_only.context.db.connection() as conn:
        [loaded] = await lane_batches.load(conn, DayTables(), [Wanted(lease, [], 2)])
        assert loaded is not None
        done = Completed(
            lease=lease,
            delivery_id=row["id"],
            event_created_at=row["event_created_at"],
            wait_seconds=300.0,
            **failed,
        )
        assert await attempts.complete(conn, DayTables(), [done]) == {row["id"]}
        breaker = Breaker(pauses=1, paused_until=ahead + timedelta(seconds=200))
        assert await lane_batches.release(
            conn, DayTables(), [Release(lease, loaded.target, breaker, ahead)]
        ) == [True]
    [(retry, lane)] = await waits(log_only)
    assert 100 < retry <= 300
    assert 100 < lane <= 200
    async with log_only.context.db.connection() as conn:
        await conn.execute("UPDATE lanes SET due_at = now()")
        [(_, claimed)] = await lanes.claim(conn, token, 1)
    assert claimed.pause_left(now()) == pytest.approx(lane, abs=60)
    set_back = now() - timedelta(hours=1)
    assert claimed.pause_left(set_back) == pytest.approx(lane, abs=60), "also if our clock is set back now"
