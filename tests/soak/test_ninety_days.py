"""90 days at 50 events/s in compressed form: fewer events a day, the same number of days."""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from services.webhooks.actions.log_events import add_to_log
from services.webhooks.context import Webhooks
from services.webhooks.rules.retention import KEPT, WEEK, oldest_kept
from services.webhooks.store import deliveries, event_log
from shared.http.caller import Caller
from shared.wire import new_id
from tests.harness.compressed_days import (
    BlockCounter,
    add_endpoint,
    envelopes_of_day,
    live_day,
    log_of_the_past,
    sequences_of,
)

DAYS, EARLY = 90, 7
# A busy studio and many small ones, as the real log has them.
BUSY, SMALL_STUDIOS, SMALL = 2_000, 200, 4
PAGES = 60
LIMIT = 50
MOST_BLOCKS = 40
SETTLED = "UPDATE deliveries SET status = 'succeeded' WHERE status = 'pending' AND event_created_at < $1"
PARTITIONS = """
SELECT count(*) FROM pg_inherits
WHERE inhparent IN ('webhooks.events'::regclass, 'webhooks.deliveries'::regclass)
"""
OPEN = "SELECT count(*) FROM deliveries WHERE status = 'pending'"


@pytest.mark.timeout(600)
async def test_ninety_days_come_and_go_and_a_page_costs_as_much_as_it_shows(database_url: str) -> None:
    """Weeks are made and dropped, sequences have no gap, replays do nothing, and pages cost a few blocks."""
    studio_id, small = new_id(), [new_id() for _ in range(SMALL_STUDIOS)]
    started = time.perf_counter()
    async with log_of_the_past(database_url, DAYS) as (service, first):
        await add_endpoint(service, studio_id)
        for number in range(DAYS):
            day = first + timedelta(days=number)
            logged = await live_day(service, day, [studio_id], BUSY)
            assert (logged[0].sequence, logged[-1].sequence) == (number * BUSY + 1, (number + 1) * BUSY)
            await live_day(service, day, small, SMALL)
            async with service.db.connection() as conn:
                await conn.execute(SETTLED, day)
                # Six that are kept, one ahead, and the two that the migration made for today.
                assert await conn.fetchval(PARTITIONS) <= 2 * (KEPT // WEEK + 5)
            if number == EARLY - 1:
                early = await costs(service, studio_id, range(EARLY))
        print(f"\n{DAYS} days in {time.perf_counter() - started:.0f} s")
        oldest = (oldest_kept(first + timedelta(days=DAYS - 1, hours=12)) - first).days
        late = await costs(service, studio_id, range(oldest, DAYS))
        for name, before in early.items():
            print(f"{name}: {before:.1f} blocks a page in the first week, {late[name]:.1f} on day {DAYS}")
            # Each week that is kept is looked into, which takes three blocks; a rare kind in more of them.
            assert late[name] <= before + MOST_BLOCKS
        await everything_is_there(service, studio_id, oldest * BUSY)
        async with service.db.connection() as conn:
            assert (await deliveries.counts(conn))["pending"] == await conn.fetchval(OPEN) > 0


async def costs(service: Webhooks, studio_id: str, days: range) -> dict[str, float]:
    """Blocks per page by kind of reader, on average over these days.

    At the same times of day, however many days there are. Pages that go on after midnight are apart: with so
    few events a day there are far more of them than in the real log.
    """
    operator = Caller(studio_id=studio_id, actor="operator")
    partner = Caller(studio_id=studio_id, client_id=new_id(), scopes=frozenset({"bookings:read"}))
    step = (BUSY - 4 * LIMIT) // (PAGES - 1)
    within = [days[page * len(days) // PAGES] * BUSY + page * step for page in range(PAGES)]
    across = [(day + 1) * BUSY - LIMIT // 2 for day in days[:-1]]
    return {
        f"{name}, {where}": await cost(service, caller, places, type_)
        for where, places in (("within a day", within), ("over midnight", across))
        for name, caller, type_ in (
            ("all kinds", operator, None),
            ("one kind", operator, "member.created"),
            ("what a partner sees", partner, None),
        )
    }


async def cost(service: Webhooks, caller: Caller, places: Sequence[int], type_: str | None) -> float:
    async with service.db.connection() as conn:
        counter: Any = BlockCounter(conn)
        for after in places:
            until = await event_log.position(conn, caller)
            wanted = event_log.Wanted(type=type_)
            found = await event_log.list_events(
                counter, caller, wanted, after=after, until=until, limit=LIMIT
            )
            assert len(found) == LIMIT
            cursor = await event_log.sequence_of_cursor(counter, caller, found[-1].id)
            assert cursor == found[-1].sequence
    return float(counter.blocks) / len(places)


async def everything_is_there(service: Webhooks, studio_id: str, oldest: int) -> None:
    found = await sequences_of(service, studio_id, limit=200)
    assert found == list(range(oldest + 1, DAYS * BUSY + 1))
    async with service.db.transaction() as conn:
        [newest] = await conn.fetch(
            "SELECT max(created_at) AS at FROM events WHERE studio_id = $1", studio_id
        )
        again = envelopes_of_day(newest["at"].replace(hour=0, minute=0, second=0), [studio_id], 10)
        assert len(await add_to_log(conn, again)) == 10
        assert await add_to_log(conn, again) == []
