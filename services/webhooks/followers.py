"""Requests that wait for an event. One loop serves all of them: it reads what is new once for each studio."""

import asyncio
import time
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
# How long a studio is followed after the last one has left: who has got an event comes back for the next one.
LINGER_SECONDS: Final = 5.0
# Events of a studio, and studios, in one step: what it holds in memory is bounded.
MOST: Final = 20
MOST_STUDIOS: Final = 50

Matches = Callable[[asyncpg.Record], bool]


class News(Struct, frozen=True):
    """The events that match, and the sequence up to which there are no others."""

    events: Sequence[EventBody]
    until: int


class Followed(Struct):
    """A studio: up to which sequence everybody was told, its oldest event, and when the last one has left."""

    told: int
    oldest: int
    left_at: float = 0.0


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
        self._followed: dict[str, Followed] = {}

    def has_nothing_after(self, studio_id: str, sequence: int | None) -> Followed | None:
        """The studio, if it is followed and had no later event a moment ago."""
        found = self._followed.get(studio_id)
        return found if found is not None and found.told == sequence else None

    async def wait(self, studio_id: str, latest: int, oldest: int, matches: Matches, seconds: float) -> News:
        """The next events that match after the latest one that the caller knows; none if the time is over."""
        followed = self._followed.setdefault(studio_id, Followed(latest, oldest))
        followed.oldest = max(followed.oldest, oldest)
        if followed.told > latest:
            # Others wait, and were told of events that this one has not seen.
            return News((), latest)
        waiter = _Waiter(latest, matches, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(studio_id, set()).add(waiter)
        if self.loop.idle != POLL_SECONDS:
            self.wakeup.notify()
        try:
            async with asyncio.timeout(seconds):
                return await waiter.news
        except TimeoutError:
            # It may have been told at this very moment.
            return waiter.news.result() if _has_result(waiter.news) else News((), waiter.until)
        finally:
            self._waiting[studio_id].discard(waiter)
            if not self._waiting[studio_id]:
                del self._waiting[studio_id]
                followed.left_at = time.monotonic()

    async def step(self) -> bool:
        long_ago = time.monotonic() - LINGER_SECONDS
        for studio_id, followed in list(self._followed.items()):
            if studio_id not in self._waiting and followed.left_at < long_ago:
                del self._followed[studio_id]
        self.loop.idle = POLL_SECONDS if self._followed else IDLE_SECONDS
        if not self._followed:
            return False
        seen = {studio_id: followed.told for studio_id, followed in self._followed.items()}
        async with self._db.connection() as conn:
            rows = await event_log.new_since(conn, seen, MOST, MOST_STUDIOS)
        more, studios = False, 0
        for studio_id, group in groupby(rows, key=itemgetter("studio_id")):
            new = list(group)
            studios += 1
            more |= len(new) == MOST
            until = new[-1]["sequence"] if len(new) == MOST else new[0]["last_sequence"]
            followed = self._followed[studio_id]
            # Only this loop tells, but somebody may have seen more since.
            followed.told = max(followed.told, until)
            self._tell(studio_id, [row for row in new if row["id"] is not None], until)
        return more or studios == MOST_STUDIOS

    def _tell(self, studio_id: str, rows: Sequence[asyncpg.Record], until: int) -> None:
        for waiter in self._waiting.get(studio_id, ()):
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


def _has_result(future: "asyncio.Future[News]") -> bool:
    return future.done() and not future.cancelled()
