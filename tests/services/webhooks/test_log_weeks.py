"""The event log and its deliveries are in weekly tables, which are made ahead and dropped whole."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from services.webhooks.actions.log_events import add_to_log, log_events, oldest_that_is_logged
from services.webhooks.actions.prune import keep_weeks, prune_step
from services.webhooks.context import Webhooks
from services.webhooks.rules.retention import KEPT, WEEK, oldest_kept, start_of_week
from services.webhooks.store import event_log, retention
from shared.errors import Unavailable
from shared.events.bus import EVENT_LOG, Poison
from shared.events.envelope import read_envelope, render
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.http.caller import Caller
from shared.wire import new_id, now
from tests.harness.compressed_days import (
    add_endpoint,
    envelopes_of_day,
    live_day,
    log_of_the_past,
    sequences_of,
)
from tests.harness.databases import connected
from tests.services.webhooks.studio_client import StudioClient, message_of

DAYS, EVENTS = 50, 4
PARTITIONS = """
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) AS bounds
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = ('webhooks.' || $1)::regclass ORDER BY 1
"""
STORED = "SELECT count(*) FROM events WHERE id = ANY($1::uuid[])"


async def partitions(service: Webhooks, table: str) -> list[str]:
    async with service.db.connection() as conn:
        return [row["relname"] for row in await conn.fetch(PARTITIONS, table)]


def event_of(studio_id: str, *, days_ago: float = 0.0) -> Event:
    resource = EventResource("booking", new_id(), 1)
    at = now() - timedelta(days=days_ago)
    return Event(
        kind=BookingCreated, studio_id=studio_id, resource=resource, data={"id": resource.id}, created_at=at
    )


async def stored(service: Webhooks, *events: Event) -> int:
    async with service.db.connection() as conn:
        return int(await conn.fetchval(STORED, [event.id for event in events]))


async def test_weeks_come_and_go_and_the_log_stays_complete(database_url: str) -> None:
    """They are made ahead and dropped whole. What is kept can be read in order."""
    studio_id = new_id()
    async with log_of_the_past(database_url, DAYS) as (service, first):
        await add_endpoint(service, studio_id)
        for number in range(DAYS):
            day = first + timedelta(days=number)
            logged = await live_day(service, day, [studio_id], EVENTS)
            assert [event.sequence for event in logged] == [number * EVENTS + n for n in range(1, EVENTS + 1)]
        today = first + timedelta(days=DAYS - 1, hours=12)
        weeks, week = [], oldest_kept(today)
        while week <= today + WEEK:
            weeks.append(week)
            week += WEEK
        for table in ("events", "deliveries"):
            assert await partitions(service, table) == [f"{table}_{week:%Y%m%d}" for week in weeks]
        gone = (weeks[0] - first).days
        assert gone > 0
        sequences = await sequences_of(service, studio_id, limit=7)
        assert sequences == list(range(gone * EVENTS + 1, DAYS * EVENTS + 1))
        async with service.db.connection() as conn:
            assert await conn.fetchval("SELECT count(*) FROM deliveries") == (DAYS - gone) * 2


async def test_late_events_of_an_earlier_week_are_read_in_order(database_url: str) -> None:
    """A relay that was down for a week: its events get later numbers and are in an earlier table.

    A replay of any of them is stored once: it has the same created_at, which is part of the key.
    """
    studio_id = new_id()
    async with log_of_the_past(database_url, 15) as (service, first):
        for number in (0, 7, 14):
            await keep_weeks(service, first + timedelta(days=number))
        days = [envelopes_of_day(first + timedelta(days=n), [studio_id], 6) for n in (0, 7, 14)]
        mixed = (
            days[0][:3] + days[1][:2] + days[0][3:5] + days[2][:3] + days[1][2:] + days[0][5:] + days[2][3:]
        )
        for envelope in mixed:
            async with service.db.transaction() as conn:
                await add_to_log(conn, [envelope])
        async with service.db.transaction() as conn:
            assert await add_to_log(conn, mixed) == []
        assert await sequences_of(service, studio_id, limit=7) == list(range(1, len(mixed) + 1))
        operator = Caller(studio_id=studio_id, actor="operator")
        async with service.db.connection() as conn:
            for after, envelope in enumerate(mixed):
                [event] = await event_log.list_events(
                    conn, operator, event_log.Wanted(), after=after, until=len(mixed), limit=1
                )
                assert event.id == envelope.id
                assert await event_log.sequence_of_cursor(conn, operator, envelope.id) == after + 1
                assert (await event_log.get_event(conn, operator, envelope.id)) == event


async def test_an_expired_week_that_is_being_read_is_dropped_later(database_url: str) -> None:
    """As during pg_dump: nobody waits for the reader, and events are logged meanwhile."""
    studio_id = new_id()
    async with log_of_the_past(database_url, 45) as (service, first):
        await live_day(service, first, [studio_id], EVENTS)
        async with connected(database_url) as reader, reader.transaction():
            await reader.execute("SELECT count(*) FROM webhooks.events")
            await keep_weeks(service, now())
            oldest = f"events_{start_of_week(first):%Y%m%d}"
            assert oldest in await partitions(service, "events")
            young = envelopes_of_day(start_of_week(now()), [studio_id], 1)
            async with service.db.transaction() as conn:
                assert len(await add_to_log(conn, young)) == 1
        await asyncio.gather(*(keep_weeks(service, now()) for _ in range(3)))
        await keep_weeks(service, now())
        assert oldest not in await partitions(service, "events")
        assert oldest.replace("events", "deliveries") not in await partitions(service, "deliveries")
        assert await sequences_of(service, studio_id, limit=7) == [EVENTS + 1]


async def test_nothing_older_than_the_log_is_logged(client: StudioClient) -> None:
    """It may have been logged before: nobody can tell. What a broken clock wrote is parked."""
    old = client.event(created_at=oldest_kept(now()) - timedelta(seconds=1))
    young = client.event(created_at=oldest_kept(now()) + timedelta(hours=1))
    await client.publish(old, young)
    await client.publish(old)
    shown = (await client.call("GET", "/events")).json()["data"]
    assert [event["id"] for event in shown] == [young.id]
    future = client.event(created_at=now() + timedelta(days=2))
    await client.publish(future)
    parked = await client.sql("SELECT event_id FROM parked_events WHERE queue = $1", EVENT_LOG.name)
    assert [row["event_id"] for row in parked] == [future.id]


async def test_the_service_cannot_drop_a_week_that_is_kept(client: StudioClient) -> None:
    """The functions run with more rights than the service has, so they check what they are asked for."""
    for kind, days in (("events", 36), ("deliveries", 1), ("lanes", 90)):
        with pytest.raises(asyncpg.RaiseError):
            await client.sql("SELECT drop_log_week(current_date - $1::int, $2)", days, kind)


@pytest.mark.parametrize("no_week_is_left", [False, True], ids=["old weeks", "no week"])
async def test_after_a_break_of_two_months_there_is_a_week_for_today(
    database_url: str, *, no_week_is_left: bool
) -> None:
    """All weeks are expired, or none is left. The first event is logged, and what is expired goes."""
    async with log_of_the_past(database_url, 60) as (service, first):
        await keep_weeks(service, first)
        async with connected(database_url) as admin:
            for table in ("events", "deliveries"):
                for name in await partitions(service, table):
                    if no_week_is_left or name >= f"{table}_{start_of_week(now()):%Y%m%d}":
                        await admin.execute(f"DROP TABLE webhooks.{name}")
        event = event_of(new_id())
        await log_events(service, [message_of(event)])
        assert await stored(service, event) == 1
        while await prune_step(service):
            pass
        async with service.db.connection() as conn:
            weeks = await retention.weeks(conn)
        assert start_of_week(now()) in weeks
        assert weeks[0] >= start_of_week(now() - KEPT)


async def test_replicas_that_add_a_week_at_once_add_it_once_at_midnight_in_utc(database_url: str) -> None:
    """Whatever the time zone of the session: an operator's has that of the server, where clocks change."""
    async with log_of_the_past(database_url, 40) as (service, first):

        async def add() -> None:
            async with connected(database_url) as conn:
                await conn.execute("SET timezone = 'Pacific/Auckland'")
                await conn.execute("SELECT webhooks.add_log_week($1)", first)

        await asyncio.gather(*(add() for _ in range(4)))
        week = start_of_week(first)
        async with service.db.connection() as conn:
            [bounds, *_] = [row["bounds"] for row in await conn.fetch(PARTITIONS, "deliveries")]
        assert bounds == (
            f"FOR VALUES FROM ('{week:%Y-%m-%d} 00:00:00+00') TO ('{week + WEEK:%Y-%m-%d} 00:00:00+00')"
        )


async def test_a_wrong_clock_of_our_own_refuses_no_event(database_url: str) -> None:
    """What our clock calls too old or of the future is refused only if the database's clock says the same."""
    async with log_of_the_past(database_url, 1) as (service, _):

        async def is_logged(event: Event, *, clock: timedelta) -> bool:
            envelope = read_envelope(render(event))
            return event.created_at >= await oldest_that_is_logged(service, [envelope], now() + clock)

        for wrong in (timedelta(days=400), timedelta(days=-400)):
            assert await is_logged(event_of(new_id()), clock=wrong)
        assert not await is_logged(event_of(new_id(), days_ago=38), clock=timedelta())
        with pytest.raises(Poison):
            await is_logged(event_of(new_id(), days_ago=-2), clock=timedelta())


async def test_events_of_a_week_that_cannot_be_made_are_held_and_not_parked(database_url: str) -> None:
    """They are not the cause. The next try makes the week."""
    async with log_of_the_past(database_url, 1) as (service, _):
        event = event_of(new_id(), days_ago=20)
        async with connected(database_url) as other, other.transaction():
            await other.execute("SELECT pg_advisory_xact_lock(hashtextextended('webhooks log weeks', 0))")
            with pytest.raises(Unavailable):
                await log_events(service, [message_of(event)])
        await log_events(service, [message_of(event)])
        assert await stored(service, event) == 1
