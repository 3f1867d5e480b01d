"""Days of the log under faults: long breaks, wrong clocks, two replicas at once, a partition that is gone."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from services.webhooks.actions.event_age import without_expired
from services.webhooks.actions.keep_days import drop_expired_days
from services.webhooks.actions.log_events import log_events
from services.webhooks.actions.prune import prune_step
from services.webhooks.context import Webhooks
from services.webhooks.rules.days import KEPT, NEVER, Span, start_of_day
from services.webhooks.store import attempts, lane_batches, lanes, log_days
from services.webhooks.store.day_tables import DayTables
from services.webhooks.store.lane_batches import Wanted
from shared.errors import Unavailable
from shared.events.bus import Message, Poison
from shared.events.envelope import read_envelope, render
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.wire import new_id, now
from tests.harness.compressed_days import add_endpoint, keep_days, live_day, log_of_the_past

BOUNDS = """
SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'webhooks.deliveries'::regclass ORDER BY c.relname
"""
STORED = "SELECT count(*) FROM events WHERE id = ANY($1::uuid[])"
DAYS = "SELECT since, until FROM log_days ORDER BY since"


def event_of(studio_id: str, *, days_ago: float = 0.0) -> Event:
    resource = EventResource("booking", new_id(), 1)
    at = now() - timedelta(days=days_ago)
    return BookingCreated(studio_id=studio_id, resource=resource, data={"id": resource.id}, created_at=at)


def message_of(event: Event) -> Message:
    return Message(event.id, event.type, render(event), None)


async def stored(service: Webhooks, *events: Event) -> int:
    async with service.db.connection() as conn:
        return int(await conn.fetchval(STORED, [event.id for event in events]))


@pytest.mark.parametrize("no_day_is_left", [False, True], ids=["old days", "no day"])
async def test_after_a_break_of_two_months_there_is_a_day_for_today(
    database_url: str, *, no_day_is_left: bool
) -> None:
    """All days are expired. Today's is made first, so that there is always one."""
    async with log_of_the_past(database_url, 60) as (service, _):
        if no_day_is_left:
            await drop_expired_days(service, now())
        while await prune_step(service):
            pass
        event = event_of(new_id())
        await log_events(service, [message_of(event)])
        assert await stored(service, event) == 1
        async with service.db.connection() as conn:
            days = [Span(row["since"], row["until"]) for row in await conn.fetch(DAYS)]
        assert any(day.contains(now()) for day in days)
        assert all(day.until > start_of_day(now() - KEPT) for day in days)


async def test_replicas_that_add_days_at_once_add_different_ones(database_url: str) -> None:
    """They take turns: no day is missing, none is there twice."""
    async with log_of_the_past(database_url, 3) as (service, first):

        async def add() -> None:
            async with service.db.connection() as conn:
                await log_days.add(conn)

        await asyncio.gather(*(add() for _ in range(4)))
        async with service.db.connection() as conn:
            rows = await conn.fetch(DAYS)
        assert [row["until"] for row in rows[1:]] == [first + timedelta(days=n) for n in range(1, 5)]


async def test_days_begin_at_midnight_in_utc_whatever_the_time_zone_of_the_session(database_url: str) -> None:
    """An operator's session has the time zone of the server, and there a day may have 23 hours."""
    async with log_of_the_past(database_url, 3) as (service, first):
        operator: asyncpg.Connection[Any] = await asyncpg.connect(
            database_url, server_settings={"timezone": "Pacific/Auckland"}
        )
        await operator.execute("SELECT webhooks.add_log_day(), webhooks.add_log_day()")
        await operator.close()
        async with service.db.connection() as conn:
            bounds = [row[0] for row in await conn.fetch(BOUNDS)]
        midnights = [f"{first + timedelta(days=n):%Y-%m-%d} 00:00:00+00" for n in range(3)]
        assert bounds == [
            f"FOR VALUES FROM ('{midnights[0]}') TO ('{midnights[1]}')",
            f"FOR VALUES FROM ('{midnights[1]}') TO ('{midnights[2]}')",
            f"FOR VALUES FROM (MINVALUE) TO ('{midnights[0]}')",
        ]


async def test_replicas_that_drop_days_at_once_drop_them_once(database_url: str) -> None:
    """One may find the day in use and leave it to the other."""
    async with log_of_the_past(database_url, 35) as (service, first):
        await keep_days(service, first + timedelta(days=1))
        await keep_days(service, first + timedelta(days=34) - KEPT)
        await asyncio.gather(*(drop_expired_days(service, now()) for _ in range(3)))
        await drop_expired_days(service, now())
        async with service.db.connection() as conn:
            assert await log_days.expired(conn, start_of_day(now() - KEPT)) == []


async def test_a_wrong_clock_of_our_own_refuses_no_event(database_url: str) -> None:
    """What our clock calls too old or of the future is refused only if the database's clock says the same."""
    async with log_of_the_past(database_url, 1) as (service, _):

        async def kept(event: Event, *, clock: timedelta) -> bool:
            envelopes = [read_envelope(render(event))]
            return await without_expired(service, [message_of(event)], envelopes, now() + clock) != ([], [])

        for wrong in (timedelta(days=400), timedelta(days=-400)):
            assert await kept(event_of(new_id()), clock=wrong)
        assert not await kept(event_of(new_id(), days_ago=32), clock=timedelta())
        with pytest.raises(Poison):
            await kept(event_of(new_id(), days_ago=-2), clock=timedelta())


async def test_events_of_a_missing_day_are_held_and_not_parked(database_url: str) -> None:
    """They are not the cause. The next try makes the day."""
    async with log_of_the_past(database_url, 1) as (service, _):
        event = event_of(new_id())
        service.days.until = NEVER
        with pytest.raises(Unavailable):
            await log_events(service, [message_of(event)])
        await log_events(service, [message_of(event)])
        assert await stored(service, event) == 1


async def test_a_lane_of_a_dropped_day_goes_on(database_url: str) -> None:
    """The dispatcher's copy of the days is up to a minute old, and names a partition that is gone."""
    studio_id = new_id()
    async with log_of_the_past(database_url, 33) as (service, first):
        await add_endpoint(service, studio_id)
        await live_day(service, first, [studio_id], 3)
        days, span = DayTables(), Span(first, first + timedelta(hours=23))
        async with service.db.connection() as conn:
            [(lease, _)] = await lanes.claim(conn, new_id(), 10)
            [before] = await lane_batches.load(conn, days, [Wanted(lease, (), 10, span)])
            assert before is not None
            assert before.due
        await keep_days(service, now())
        async with service.db.connection() as conn:
            [after] = await lane_batches.load(conn, days, [Wanted(lease, (), 10, span)])
            assert after is not None
            assert after.due == []
            assert await attempts.in_order(conn, days, lease, span, 1) == []
