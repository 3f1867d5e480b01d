"""The event log over many days in a few seconds: fewer events a day, the same number of days.

Days are real ones of the past, so that the functions that refuse to drop anything young let them go.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import msgspec

from services.webhooks.actions.log_events import Pairs, add_to_log, make_deliveries
from services.webhooks.actions.prune import keep_weeks
from services.webhooks.context import Webhooks
from services.webhooks.followers import Followers
from services.webhooks.rules.signing import SecretCipher
from services.webhooks.rules.urls import UrlPolicy
from services.webhooks.store import endpoints, event_log
from services.webhooks.store.event_log import StoredEvent, Wanted
from services.webhooks.wire.endpoints import EndpointCreate
from shared.background import Wakeup
from shared.db.database import Database
from shared.events.bus.memory import MemoryBus
from shared.events.envelope import Envelope, read_envelope, render
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated, LeadCreated, MemberCreated
from shared.http.caller import Caller
from shared.wire import new_id, now

KINDS = (BookingCreated, MemberCreated, LeadCreated)
BATCH = 100


@asynccontextmanager
async def log_of_the_past(database_url: str, days: int) -> AsyncIterator[tuple[Webhooks, datetime]]:
    """A service whose log begins that many days ago, without loops, and the start of its first day."""
    first = now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    db = await Database.connect(database_url, "webhooks", size=4)
    bus = MemoryBus()
    try:
        yield (
            Webhooks(
                db=db,
                bus=bus,
                wakeup=Wakeup(),
                relay_wakeup=Wakeup(),
                recovery_wakeup=Wakeup(),
                cipher=SecretCipher(("w" * 32,)),
                urls=UrlPolicy(),
                followers=Followers(db),
            ),
            first,
        )
    finally:
        await bus.close()
        await db.close()


def envelopes_of_day(day: datetime, studio_ids: Sequence[str], count: int) -> list[Envelope]:
    """That many events of each studio, spread over the day."""
    made = []
    for number in range(count):
        created_at = day + timedelta(days=1) * number / count
        for studio_id in studio_ids:
            resource = EventResource("booking", new_id(), 1)
            event = Event(
                kind=KINDS[number % len(KINDS)],
                studio_id=studio_id,
                resource=resource,
                data={"id": resource.id, "note": "x" * 300},
                created_at=created_at,
            )
            made.append(read_envelope(render(event)))
    return made


async def live_day(
    service: Webhooks, day: datetime, studio_ids: Sequence[str], count: int
) -> list[StoredEvent]:
    """What the service does on that day: it keeps the days, and logs events with their deliveries."""
    await keep_weeks(service, day + timedelta(hours=12))
    envelopes = envelopes_of_day(day, studio_ids, count)
    logged: list[StoredEvent] = []
    for start in range(0, len(envelopes), BATCH):
        async with service.db.transaction() as conn:
            events = await add_to_log(conn, envelopes[start : start + BATCH])
            interested = await endpoints.subscribers(conn, sorted(studio_ids))
            await make_deliveries(conn, Pairs(events, interested))
        logged += events
    return logged


async def add_endpoint(service: Webhooks, studio_id: str) -> str:
    caller = Caller(studio_id=studio_id, client_id=new_id(), scopes=frozenset({"bookings:read"}))
    body = EndpointCreate(url="https://partner.example/hook")
    async with service.db.transaction() as conn:
        return (await endpoints.insert(conn, caller, new_id(), body)).shown.id


class BlockCounter:
    """A connection that adds up the blocks which its statements touch."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn
        self.blocks = 0
        self.statements = 0

    async def fetch(self, sql: str, *args: Any) -> Any:
        await self._count(sql, args)
        return await self._conn.fetch(sql, *args)

    async def fetchrow(self, sql: str, *args: Any) -> Any:
        await self._count(sql, args)
        return await self._conn.fetchrow(sql, *args)

    async def _count(self, sql: str, args: Sequence[Any]) -> None:
        found = await self._conn.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *args)
        [explained] = msgspec.json.decode(found)
        self.blocks += explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"]
        self.statements += 1


async def sequences_of(service: Webhooks, studio_id: str, *, limit: int) -> list[int]:
    """The sequences that an operator reads, page by page."""
    operator = Caller(studio_id=studio_id, actor="operator")
    found: list[int] = []
    async with service.db.connection() as conn:
        until = await event_log.position(conn, operator)
        while page := await event_log.list_events(
            conn, operator, Wanted(), after=found[-1] if found else 0, until=until, limit=limit
        ):
            found += [event.sequence for event in page]
    return found
