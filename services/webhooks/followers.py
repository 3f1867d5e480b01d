"""Requests that wait for an event. One loop serves all of them: it reads what is new once for each studio."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

import asyncpg
from msgspec import Struct

from services.webhooks.store import event_log
from services.webhooks.store.event_log import EventBody
from shared.background import Loop, Wakeup
from shared.db.database import Database

# While somebody waits. Events that this process logs wake the loop at once; those of another one are found
# here, which costs nothing while nobody waits.
POLL_SECONDS: Final = 0.05
IDLE_SECONDS: Final = 5.0
# Events of a studio in one step.
MOST: Final = 50

Matches = Callable[[asyncpg.Record], bool]


class News(Struct, frozen=True):
    """The events that match, and the sequence up to which there are no others."""

    events: Sequence[EventBody]
    until: int


class _Waiter(Struct, eq=False):
    until: int
    matches: Matches
    news: "asyncio.Future[News]"


class Followers:
    def __init__(self, db: Database) -> None:
        self.wakeup = Wakeup()
        self.loop = Loop("webhooks-followers", self.step, idle=IDLE_SECONDS, wakeup=self.wakeup)
        self._db = db
        self._waiting: dict[str, set[_Waiter]] = {}
        # Of each studio that is waited for: up to which sequence everything was told.
        self._told: dict[str, int] = {}

    async def wait(self, studio_id: str, after: int, matches: Matches, seconds: float) -> News:
        """The next events after a sequence that match. None of them once the time is over."""
        if self._told.setdefault(studio_id, after) > after:
            # Others wait, and were told of events that this one has not seen.
            return News((), after)
        waiter = _Waiter(after, matches, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(studio_id, set()).add(waiter)
        self.wakeup.notify()
        try:
            async with asyncio.timeout(seconds):
                return await waiter.news
        except TimeoutError:
            return News((), waiter.until)
        finally:
            self._waiting[studio_id].discard(waiter)
            if not self._waiting[studio_id]:
                del self._waiting[studio_id], self._told[studio_id]

    async def step(self) -> bool:
        self.loop.idle = POLL_SECONDS if self._told else IDLE_SECONDS
        if not self._told:
            return False
        async with self._db.connection() as conn:
            rows = await event_log.new_since(conn, self._told, MOST)
        full = False
        for studio_id, group in groupby(rows, key=itemgetter("studio_id")):
            new = list(group)
            full |= len(new) == MOST
            until = new[-1]["sequence"] if len(new) == MOST else new[0]["last_sequence"]
            self._tell(studio_id, [row for row in new if row["id"] is not None], until)
        return full

    def _tell(self, studio_id: str, rows: Sequence[asyncpg.Record], until: int) -> None:
        if studio_id not in self._told:
            return  # nobody waits any more
        self._told[studio_id] = max(self._told[studio_id], until)
        for waiter in self._waiting[studio_id]:
            if waiter.news.done():
                continue
            events = [
                EventBody(row["id"], row["sequence"], row["body"])
                for row in rows
                if row["sequence"] > waiter.until and waiter.matches(row)
            ]
            waiter.until = max(waiter.until, until)
            if events:
                waiter.news.set_result(News(events, waiter.until))
