"""How long partitions rest after a kill: until all are leased again, and events pass through all of them."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import asyncpg
from msgspec import Struct

from shared.events.outbox import PARTITIONS
from tests.harness.event_writer import EventWriter
from tests.harness.eventually import eventually

# Both relays of producers and both roles of the event log.
RENEWED = """
SELECT count(*) FROM (
    SELECT renewed_at FROM bookings.leases UNION ALL SELECT renewed_at FROM forms.leases
    UNION ALL SELECT renewed_at FROM webhooks.leases) AS every
WHERE renewed_at > $1
"""
LEASED_ROLES = 4
SHARED_BY = """
SELECT min(replicas) FROM (
    SELECT count(DISTINCT replica) AS replicas FROM bookings.leases
    UNION ALL SELECT count(DISTINCT replica) FROM forms.leases
    UNION ALL SELECT count(DISTINCT replica) FROM webhooks.leases GROUP BY role) AS roles
"""
LONGEST = 120.0
LOGGED = "SELECT id::text FROM webhooks.events WHERE studio_id = ANY($1::uuid[]) AND id = ANY($2::uuid[])"


class Takeover(Struct, frozen=True):
    """Seconds from the kill. `leased`: every partition was renewed since. `logged`: in every partition, an
    event of each producer that was written since is in the log. `delivered`: each endpoint got one of those,
    measured only if a dispatcher was killed.
    """

    killed: str
    leased: float
    logged: float
    delivered: float | None


class TakeoverWatch:
    def __init__(
        self,
        conn: "asyncpg.Connection[Any]",
        writers: Sequence[EventWriter],
        arrived: Mapping[str, float],
        listening: Sequence[str],
    ) -> None:
        """`arrived`: the events that the endpoints of the `listening` studios got."""
        self._conn = conn
        self._writers = writers
        self._arrived = arrived
        self._listening = frozenset(listening)

    async def measure(self, killed: str) -> Takeover:
        """Call it right after the kill."""
        moment, clock = time.monotonic(), await self._conn.fetchval("SELECT clock_timestamp()")

        async def seconds_until(fact: Callable[[], Awaitable[bool]]) -> float:
            await eventually(fact, seconds=LONGEST)
            return time.monotonic() - moment

        leased = await seconds_until(partial(self._renewed_since, clock))
        logged = await seconds_until(partial(self._logged_since, moment))
        delivered = None
        if killed.startswith("dispatch"):
            delivered = await seconds_until(partial(self._delivered_since, moment))
        return Takeover(killed, leased, logged, delivered)

    async def until_shared(self) -> None:
        """Until each role has its leases spread over both replicas again."""

        async def shared() -> bool:
            return bool(await self._conn.fetchval(SHARED_BY) == 2)

        await eventually(shared, seconds=LONGEST)

    async def _renewed_since(self, clock: Any) -> bool:
        renewed: int = await self._conn.fetchval(RENEWED, clock)
        return renewed == LEASED_ROLES * PARTITIONS

    async def _logged_since(self, moment: float) -> bool:
        first = [writer.first_since(moment) for writer in self._writers]
        if any(len(found) < PARTITIONS for found in first):
            return False
        events = [event for found in first for event in found.values()]
        studio_ids, ids = [event.studio_id for event in events], [event.id for event in events]
        return len(await self._conn.fetch(LOGGED, studio_ids, ids)) == len(ids)

    async def _delivered_since(self, moment: float) -> bool:
        since = [one for writer in self._writers for one in writer.written_since(moment)]
        got = {one.studio_id for one in since if one.id in self._arrived}
        return self._listening <= got
