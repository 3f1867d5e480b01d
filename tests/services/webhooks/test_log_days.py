"""The event log and its deliveries are in daily partitions, which are dropped when they expire."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import asyncpg

from services.webhooks.actions.log_events import add_to_log
from services.webhooks.context import Webhooks
from services.webhooks.rules.days import AHEAD, KEPT, oldest_kept
from services.webhooks.store import event_reading, stats
from shared.events.bus import EVENT_LOG
from shared.http.caller import Caller
from shared.wire import new_id, now
from tests.harness.compressed_days import (
    BlockCounter,
    add_endpoint,
    envelopes_of_day,
    keep_days,
    live_day,
    log_of_the_past,
    sequences_of,
)
from tests.services.webhooks.studio_client import StudioClient

DAYS, EVENTS = 36, 4
PARTITIONS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = ('webhooks.' || $1)::regclass ORDER BY 1
"""


async def partitions(service: Webhooks, table: str) -> list[str]:
    async with service.db.connection() as conn:
        return [row["relname"] for row in await conn.fetch(PARTITIONS, table)]


async def test_days_come_and_go_and_the_log_stays_complete(database_url: str) -> None:
    """Days are made ahead and dropped whole. What is kept can be read in order."""
    studio_id = new_id()
    async with log_of_the_past(database_url, DAYS) as (service, first):
        await add_endpoint(service, studio_id)
        for number in range(DAYS):
            day = first + timedelta(days=number)
            logged = await live_day(service, day, [studio_id], EVENTS)
            assert [event.sequence for event in logged] == [number * EVENTS + n for n in range(1, EVENTS + 1)]
        today = first + timedelta(days=DAYS - 1)
        kept = KEPT.days + 1
        days = [oldest_kept(today) + timedelta(days=n) for n in range(kept + AHEAD.days)]
        for table in ("events", "deliveries"):
            assert await partitions(service, table) == [f"{table}_{day:%Y%m%d}" for day in days]
        sequences = await sequences_of(service, studio_id, limit=7)
        assert sequences == list(range((DAYS - kept) * EVENTS + 1, DAYS * EVENTS + 1))
        async with service.db.connection() as conn:
            assert await conn.fetchval("SELECT count(*) FROM deliveries") == kept * -(-EVENTS // 3)
            runs = await conn.fetch("SELECT first_sequence FROM event_days ORDER BY 1")
            figures = await stats.counts(conn)
        assert len(runs) == kept
        assert figures["pending"] == kept * -(-EVENTS // 3), "what was dropped is not counted as open"


async def test_a_replay_of_any_kept_day_is_stored_once(database_url: str) -> None:
    """A copy has the same created_at, which is part of the key."""
    studio_id = new_id()
    async with log_of_the_past(database_url, 3) as (service, first):
        envelopes = []
        for number in range(3):
            await keep_days(service, first + timedelta(days=number))
            envelopes += envelopes_of_day(first + timedelta(days=number), [studio_id], EVENTS)
        for expected in (len(envelopes), 0):
            async with service.db.transaction() as conn:
                assert len(await add_to_log(conn, envelopes)) == expected
        async with service.db.transaction() as conn:
            assert await add_to_log(conn, [envelopes[2]]) == []


async def test_late_events_of_an_earlier_day_are_read_in_order(database_url: str) -> None:
    """A relay that was down for a day: its events get later numbers and are in an earlier partition."""
    studio_id = new_id()
    async with log_of_the_past(database_url, 3) as (service, first):
        await keep_days(service, now())
        days = [envelopes_of_day(first + timedelta(days=n), [studio_id], 6) for n in range(3)]
        mixed = (
            days[0][:3] + days[1][:2] + days[0][3:5] + days[2][:3] + days[1][2:] + days[0][5:] + days[2][3:]
        )
        for envelope in mixed:
            async with service.db.transaction() as conn:
                await add_to_log(conn, [envelope])
        assert await sequences_of(service, studio_id, limit=7) == list(range(1, len(mixed) + 1))
        operator = Caller(studio_id=studio_id, actor="operator")
        async with service.db.connection() as conn:
            for after, envelope in enumerate(mixed):
                position = await event_reading.position(conn, operator, after)
                [event] = await event_reading.list_events(
                    conn, service.days.tables, operator, position, after=after, type_=None, limit=1
                )
                assert event.id == envelope.id
                assert (
                    await event_reading.sequence_of_cursor(conn, service.days.tables, operator, envelope.id)
                    == after + 1
                )
                assert (
                    await event_reading.get_event(conn, service.days.tables, operator, envelope.id)
                ) == event


async def test_a_page_reads_the_partitions_of_its_days_only(database_url: str) -> None:
    """However many days are kept: a few blocks more than on the first day, and not a scan for each day."""
    studio_id = new_id()
    operator = Caller(studio_id=studio_id, actor="operator")
    costs: list[int] = []
    async with log_of_the_past(database_url, 20) as (service, first):
        for number in range(20):
            await live_day(service, first + timedelta(days=number), [studio_id], 250)
            if number in (0, 19):
                costs.append(await cost_of_page(service, operator, number * 250 + 10))
    assert costs[1] <= costs[0] + 4, costs


async def cost_of_page(service: Webhooks, caller: Caller, after: int) -> int:
    async with service.db.connection() as conn:
        counter: Any = BlockCounter(conn)
        position = await event_reading.position(counter, caller, after)
        found = await event_reading.list_events(
            counter, service.days.tables, caller, position, after=after, type_=None, limit=20
        )
    assert [event.sequence for event in found] == list(range(after + 1, after + 21))
    return int(counter.blocks)


async def test_an_expired_day_that_is_being_read_is_dropped_later(database_url: str) -> None:
    """As during pg_dump: nobody waits for the reader, and events are logged meanwhile."""
    studio_id = new_id()
    async with log_of_the_past(database_url, 33) as (service, first):
        await live_day(service, first, [studio_id], EVENTS)
        reader: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
        reading = reader.transaction()
        await reading.start()
        await reader.execute("SELECT count(*) FROM webhooks.events")
        await keep_days(service, now())
        oldest = f"events_{first:%Y%m%d}"
        assert oldest in await partitions(service, "events")
        async with service.db.transaction() as conn:
            assert len(await add_to_log(conn, envelopes_of_day(oldest_kept(now()), [studio_id], 1))) == 1
        await reading.rollback()
        await reader.close()
        await keep_days(service, now())
        assert oldest not in await partitions(service, "events")
        assert oldest.replace("events", "deliveries") not in await partitions(service, "deliveries")
        assert await sequences_of(service, studio_id, limit=7) == [EVENTS + 1]


async def test_nothing_older_than_the_log_is_logged(client: StudioClient) -> None:
    """It may have been logged before: nobody can tell. What a broken clock wrote is parked."""
    old = client.event(created_at=oldest_kept(now()) - timedelta(seconds=1))
    # A day younger than that: in the first partition, events go by the hour.
    young = client.event(created_at=oldest_kept(now()) + timedelta(days=1, hours=1))
    await client.publish(old, young)
    await client.publish(old)
    shown = (await client.call("GET", "/events")).json()["data"]
    assert [event["id"] for event in shown] == [young.id]
    future = client.event(created_at=now() + timedelta(days=2))
    await client.publish(future)
    parked = await client.sql("SELECT event_id FROM parked_events WHERE queue = $1", EVENT_LOG.name)
    assert [row["event_id"] for row in parked] == [future.id]


async def test_an_id_that_tells_an_impossible_day_is_not_found(client: StudioClient) -> None:
    """A partner may send any id, also one from the end of time."""
    for id_ in ("ffffffff-ffff-7fff-bfff-ffffffffffff", "00000000-0000-7000-8000-000000000000"):
        assert (await client.call("GET", f"/events/{id_}")).status == 404
        assert (await client.call("GET", "/events", cursor=id_)).code == "invalid_cursor"
        path = f"/webhook-deliveries/{id_}/retry"
        assert (await client.call("POST", path)).status == 404


async def test_the_service_cannot_drop_a_day_that_is_kept(client: StudioClient) -> None:
    """The functions run with more rights than the service has, so they check what they are asked for."""
    for kind, until in (("events", "29 days"), ("deliveries", "1 day"), ("lanes", "90 days")):
        try:
            await client.sql(f"SELECT drop_log_day(now() - interval '{until}' + interval '1 s', $1)", kind)
        except asyncpg.RaiseError:
            continue
        raise AssertionError(f"{kind} of {until} ago could be dropped")


async def test_a_day_is_noted_once_for_each_studio(database_url: str) -> None:
    """From which sequence on its events are of that day."""
    studio_id = new_id()
    async with log_of_the_past(database_url, 2) as (service, first):
        for number in range(2):
            await live_day(service, first + timedelta(days=number), [studio_id], 3)
        async with service.db.connection() as conn:
            rows = await conn.fetch("SELECT first_sequence, since, until FROM event_days ORDER BY 1")
        assert [row["first_sequence"] for row in rows] == [1, 4]
        assert all(a["until"] == b["since"] for a, b in pairwise(rows))
