"""Which of the parked messages still exist, by several looks at their queue.

Listing takes the messages for a moment, and a broker does not tell how many are taken. Whoever else looks at
that moment, a service or an operator, finds fewer or none. So a message is missing only if all looks miss it.
"""

import asyncio
import random
import time
from collections import deque

from msgspec import Struct

from shared.events.bus import Bus, Queue

LOOKS = 5
# Services look at the same interval. Without a random pause, two of them might always look at the same time.
SPREAD_SECONDS = 15.0
# With more parked messages than this it is not known which are missing.
READ = 1000


class Present(Struct, frozen=True):
    """The messages that at least one look has found, and when the first of these looks began."""

    ids: frozenset[str]
    seconds_ago: float


class ParkedLooks:
    def __init__(
        self, bus: Bus, queue: Queue, *, looks: int = LOOKS, spread_seconds: float = SPREAD_SECONDS
    ) -> None:
        """In one process nobody takes messages to list them, so one look is enough."""
        self._bus = bus
        self._queue = queue
        self._spread_seconds = spread_seconds if bus.keeps_parked else 0.0
        self._looks: deque[tuple[float, frozenset[str]]] = deque(maxlen=looks if bus.keeps_parked else 1)

    def forget(self) -> None:
        self._looks.clear()

    async def look(self, rows: int) -> Present | None:
        """For this many rows of parked events. None if it is not known that one is missing."""
        await asyncio.sleep(random.uniform(0, self._spread_seconds))
        began = time.monotonic()
        found = await self._found(rows)
        if found is None:
            self.forget()
            return None
        self._looks.append((began, found))
        if len(self._looks) != self._looks.maxlen:
            return None
        ids = frozenset().union(*(one for _, one in self._looks))
        return Present(ids, time.monotonic() - self._looks[0][0])

    async def _found(self, rows: int) -> frozenset[str] | None:
        """A producer with its own broker user may count the event log's parked messages but not read them. If
        there are fewer than its rows, some of its own are gone and it publishes all of them again: the event
        log stores each event once.
        """
        if not self._bus.lists_parked(self._queue):
            return frozenset() if (await self._bus.depth(self._queue)).parked < rows else None
        parked = await self._bus.parked(self._queue, READ)
        return frozenset(message.id for message in parked) if len(parked) < READ else None
