"""Requests that wait for an event. One loop serves all of them: it reads what is new once for each studio."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
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
# Those who are told come back at once for the next event, and who asks for something else has to wait until
# they are served. So they are told one after the other, if that delays nobody for long.
SPREAD_SECONDS: Final = 0.001
MOST_SPREAD_SECONDS: Final = 0.03

Matches = Callable[[asyncpg.Record], bool]


class News(Struct, frozen=True):
    """The events that match, the sequence up to which there are no others, and that of the oldest event.

    `is_cut`: more were logged than one step reads.
    """

    events: Sequence[EventBody]
    until: int
    oldest: int = 0
    is_cut: bool = False


class Followed(Struct):
    """A studio: up to which sequence everybody was told, its oldest event, and when the last one has left."""

    told: int
    oldest: int
    left_at: float = 0.0


class _Waiter(Struct, eq=False):
    until: int
    matches: Matches
    woken: "asyncio.Future[None]"
    news: News | None = None

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class Followers:
    def __init__(self, db: Database) -> None:
        self.wakeup = Wakeup()
        self.loop = Loop("webhooks-followers", self.step, idle=IDLE_SECONDS, wakeup=self.wakeup)
        self._db = db
        self._waiting: dict[str, set[_Waiter]] = {}
        self._followed: dict[str, Followed] = {}
        # Studios that have news for sure, and when all were looked at last.
        self._logged: set[str] = set()
        self._polled_at = 0.0
        self._last_told = 0.0

    def logged(self, studio_ids: Iterable[str]) -> None:
        """This process has logged events of these studios."""
        if news := self._followed.keys() & studio_ids:
            self._logged |= news
            self.wakeup.notify()

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
                await waiter.woken
        except TimeoutError:
            pass
        finally:
            waiting = self._waiting[studio_id]
            waiting.discard(waiter)
            if not waiting:
                del self._waiting[studio_id]
                followed.left_at = time.monotonic()
        # Also if the time was over just when there was something to tell.
        return waiter.news or News((), waiter.until)

    async def step(self) -> bool:
        long_ago = time.monotonic() - LINGER_SECONDS
        for studio_id, followed in list(self._followed.items()):
            if studio_id not in self._waiting and followed.left_at < long_ago:
                del self._followed[studio_id]
        self.loop.idle = POLL_SECONDS if self._followed else IDLE_SECONDS
        if not self._followed:
            return False
        seen = {studio_id: followed.told for studio_id, followed in self._studios()}
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
            followed.oldest = max(followed.oldest, new[0]["oldest"] or until + 1)
            is_cut = until < new[0]["last_sequence"]
            self._tell(studio_id, [row for row in new if row["id"] is not None], until, is_cut=is_cut)
        if more := more or studios == MOST_STUDIOS:
            self._polled_at = 0.0
        return more

    def _studios(self) -> list[tuple[str, Followed]]:
        """Those with news, or all of them if the next poll is due."""
        logged, self._logged = self._logged, set()
        if time.monotonic() - self._polled_at < POLL_SECONDS:
            return [(id_, followed) for id_ in logged if (followed := self._followed.get(id_)) is not None]
        self._polled_at = time.monotonic()
        return list(self._followed.items())

    def _tell(self, studio_id: str, rows: Sequence[asyncpg.Record], until: int, *, is_cut: bool) -> None:
        loop = asyncio.get_running_loop()
        for waiter in self._waiting.get(studio_id, ()):
            if waiter.news is not None:
                continue
            events = [
                EventBody(row["id"], row["sequence"], row["body"])
                for row in rows
                if row["sequence"] > waiter.until and waiter.matches(row)
            ]
            waiter.until = max(waiter.until, until)
            if events:
                oldest = self._followed[studio_id].oldest
                waiter.news = News(events, waiter.until, oldest, is_cut=is_cut)
                now = loop.time()
                at = min(max(now, self._last_told + SPREAD_SECONDS), now + MOST_SPREAD_SECONDS)
                loop.call_at(at, waiter.wake)
                self._last_told = at
