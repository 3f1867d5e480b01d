"""Writes events of many studios through a service's outbox, and remembers what it has committed."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import asyncpg
from msgspec import Struct

from shared.events.event import EventResource, Kind
from shared.events.kinds import BookingCreated, LeadCreated
from shared.events.outbox import add_events, partition_of
from shared.wire import new_id

# One transaction.
CHUNK = 10
AGGREGATES_PER_STUDIO = 10
KINDS: dict[str, tuple[str, Kind]] = {
    "bookings": ("booking", BookingCreated),
    "forms": ("lead", LeadCreated),
}
WAKE = "SELECT pg_notify('outbox:' || current_schema(), '')"


class Written(Struct, frozen=True):
    """`began` is before the commit."""

    id: str
    studio_id: str
    aggregate: str
    version: int
    began: float


class EventWriter:
    """The versions of an aggregate grow in the order of the commits."""

    def __init__(self, service: str, studios: Sequence[str], seed: int) -> None:
        self.service = service
        self.written: list[Written] = []
        self.may_end = False
        self.may_write = asyncio.Event()
        self._random = random.Random(seed)
        self._versions = {(studio, new_id()): 0 for studio in studios for _ in range(AGGREGATES_PER_STUDIO)}
        self._aggregates = list(self._versions)

    async def write(self, database_url: str, *, events: int, rate: float) -> None:
        """At least `events`, and until it `may_end`; `rate` is an upper bound."""
        conn: asyncpg.Connection[Any] = await asyncpg.connect(
            database_url, server_settings={"search_path": self.service}
        )
        try:
            while len(self.written) < events or not self.may_end:
                await self.may_write.wait()
                await self._write_chunk(conn)
                await asyncio.sleep(CHUNK / rate)
        finally:
            await conn.close()

    def written_since(self, moment: float) -> Iterator[Written]:
        """Whose transactions began after `moment`, the newest first."""
        return takewhile(lambda one: one.began > moment, reversed(self.written))

    def first_since(self, moment: float) -> dict[int, Written]:
        """The oldest one of each partition."""
        return {partition_of(one.studio_id): one for one in self.written_since(moment)}

    async def _write_chunk(self, conn: "asyncpg.Connection[Any]") -> None:
        noun, kind = KINDS[self.service]
        chosen = self._random.sample(self._aggregates, CHUNK)
        events = [
            kind(studio_id=studio, resource=EventResource(noun, each, self._versions[studio, each]), data={})
            for studio, each in chosen
        ]
        began = time.monotonic()
        async with conn.transaction():
            await add_events(conn, events)
        await conn.execute(WAKE)
        for (studio, aggregate), event in zip(chosen, events, strict=True):
            version = self._versions[studio, aggregate]
            self.written.append(Written(event.id, studio, aggregate, version, began))
            self._versions[studio, aggregate] += 1
