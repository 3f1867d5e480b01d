"""The restore drill finds lost events, and takes nothing for lost that the retention has dropped."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest

from services.webhooks.actions.advance_sequences import advance_sequences
from services.webhooks.actions.log_events import add_to_log
from services.webhooks.context import Webhooks
from services.webhooks.wire.operators import AdvanceSequences
from shared.events.envelope import Envelope
from shared.wire import new_id, now
from tests.deploy.test_restoring import CHECKS
from tests.harness.compressed_days import envelopes_of_day, keep_days, log_of_the_past

DAY = timedelta(days=1)
KEPT = 30
STUDIO = "INSERT INTO gateway.studios (id, name) VALUES ($1, 'Flow')"


class Log:
    """A studio's event log whose first day has just expired."""

    def __init__(self, service: Webhooks, admin: Any, first: datetime) -> None:
        self.service, self.admin, self.first = service, admin, first
        self.studio_id = new_id()

    def events(self, days_later: int) -> list[Envelope]:
        return envelopes_of_day(self.first + days_later * DAY, [self.studio_id], 3)

    async def add(self, *envelopes: Envelope) -> None:
        async with self.service.db.transaction() as conn:
            await add_to_log(conn, envelopes)

    async def sequences(self) -> list[int]:
        rows = await self.admin.fetch("SELECT sequence FROM webhooks.events ORDER BY 1")
        return [row["sequence"] for row in rows]


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[Log]:
    """Three events of each of two days, one of the first day after midnight; then the first day goes."""
    admin: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    async with log_of_the_past(database_url, KEPT + 2) as (service, first):
        await keep_days(service, first)
        made = Log(service, admin, first)
        await admin.execute(STUDIO, made.studio_id)
        old, kept = made.events(0), made.events(1)
        await keep_days(service, first + 5 * DAY)
        await made.add(*old[:2])
        await made.add(kept[0])
        await made.add(old[2])
        await made.add(*kept[1:])
        await keep_days(service, first + (KEPT + 1) * DAY)
        try:
            yield made
        finally:
            await admin.close()


async def test_a_late_event_of_a_dropped_day_is_no_gap(log: Log) -> None:
    """It was logged between two events of the next day, and its day is gone as a whole."""
    assert await log.sequences() == [3, 5, 6]
    await log.admin.execute(CHECKS)


async def test_an_event_that_is_missing_within_a_kept_day_is_found(log: Log) -> None:
    """Although a day was dropped, in the same day and in a later one."""
    await log.add(*log.events(2))
    await log.admin.execute(CHECKS)
    await log.admin.execute("DELETE FROM webhooks.events WHERE sequence = 8")
    with pytest.raises(asyncpg.RaiseError, match="1 studios has gaps"):
        await log.admin.execute(CHECKS)


async def test_the_jump_after_a_restore_is_no_gap(log: Log) -> None:
    """`studioctl sequences advance` skips a million numbers once."""
    await advance_sequences(log.service, AdvanceSequences(studio_ids=[log.studio_id], by=1_000_000))
    await log.add(*log.events(2))
    assert (await log.sequences())[-3:] == [1_000_007, 1_000_008, 1_000_009]
    await log.admin.execute(CHECKS)


async def test_rows_that_are_deleted_one_by_one_are_no_gap(database_url: str) -> None:
    """The first partition is emptied by age, which is not the order of sequences."""
    admin: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    async with log_of_the_past(database_url, 2) as (service, first):
        await admin.execute("CREATE INDEX events_before_by_age ON webhooks.events_before (created_at)")
        made = Log(service, admin, first)
        await admin.execute(STUDIO, made.studio_id)
        await keep_days(service, now())
        await made.add(*made.events(-2), *made.events(0), *made.events(-1), *made.events(1))
        await admin.execute("DELETE FROM webhooks.events WHERE sequence IN (2, 7, 9)")
        await admin.execute(CHECKS)
        await admin.execute("DELETE FROM webhooks.events WHERE sequence = 5")
        with pytest.raises(asyncpg.RaiseError, match="1 studios has gaps"):
            await admin.execute(CHECKS)
    await admin.close()
