"""Time-limited leases: each partition belongs to one replica, and moves within seconds if that one dies."""

import asyncio
import time
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import structlog

from shared.background import end_tasks
from shared.db.database import Connection, Database
from shared.wire import new_id

log = structlog.get_logger("leases")

T = TypeVar("T")

# A replica without a heartbeat for this long has lost its leases.
LEASE_SECONDS = 5.0
RENEW_SECONDS = 1.0
# A replica that cannot do the work of its leases for this long gives them up.
UNABLE_SECONDS = 3.0
LEASE = timedelta(seconds=LEASE_SECONDS)

# Every replica computes the same assignment from the replicas that are alive, gives up what is no longer its
# own and takes what is free. A time is valid only within LEASE_SECONDS of the database's clock, on either
# side. Replicas that are configured for another number of partitions take none until the others have stopped:
# a studio's events would be in two queues. The lowest lease decides which number is in use.
RENEW = """
WITH seen AS (
    INSERT INTO lease_replicas (role, replica, seen_at, partitions)
    VALUES ($1, $2, clock_timestamp(), $3::smallint)
    ON CONFLICT (role, replica) DO UPDATE SET seen_at = excluded.seen_at
), forgotten AS (
    DELETE FROM lease_replicas WHERE role = $1 AND replica <> $2
      AND seen_at NOT BETWEEN clock_timestamp() - 10 * $4::interval AND clock_timestamp() + $4::interval
), in_use AS (
    SELECT coalesce((
        SELECT coalesce(r.partitions, $3) FROM leases l
        LEFT JOIN lease_replicas r ON r.role = l.role AND r.replica = l.replica
        WHERE l.role = $1
          AND l.renewed_at BETWEEN clock_timestamp() - $4::interval AND clock_timestamp() + $4::interval
        ORDER BY l.partition LIMIT 1), $3) AS partitions
), alive AS (
    SELECT replica, row_number() OVER (ORDER BY replica) - 1 AS place, count(*) OVER () AS replicas
    FROM (SELECT replica FROM lease_replicas WHERE role = $1 AND replica <> $2
            AND coalesce(partitions, $3) = $3
            AND seen_at BETWEEN clock_timestamp() - $4::interval AND clock_timestamp() + $4::interval
          UNION ALL SELECT $2::uuid) AS both_kinds
), mine AS (
    SELECT partition FROM in_use CROSS JOIN generate_series(0, $3 - 1) AS partition JOIN alive
    ON alive.replica = $2 AND partition % alive.replicas = alive.place
    WHERE in_use.partitions = $3
), released AS (
    DELETE FROM leases WHERE role = $1 AND replica = $2 AND partition NOT IN (SELECT partition FROM mine)
), taken AS (
    INSERT INTO leases AS l (role, partition, replica, renewed_at)
    SELECT $1, partition, $2, clock_timestamp() FROM mine ORDER BY partition
    ON CONFLICT (role, partition) DO UPDATE SET replica = excluded.replica, renewed_at = excluded.renewed_at
    WHERE l.replica = $2
       OR l.renewed_at NOT BETWEEN clock_timestamp() - $4::interval AND clock_timestamp() + $4::interval
    RETURNING partition
)
SELECT in_use.partitions AS in_use, ARRAY(SELECT partition FROM taken) AS held FROM in_use
"""
ANYBODY_HOLDS = """
SELECT EXISTS (
    SELECT FROM leases WHERE role = $1 AND partition = $2
    AND renewed_at BETWEEN clock_timestamp() - $3::interval AND clock_timestamp() + $3::interval)
"""
RELEASE = """
WITH gone AS (DELETE FROM lease_replicas WHERE role = $1 AND replica = $2)
DELETE FROM leases WHERE role = $1 AND replica = $2
"""


class Leases:
    """`role` names the work: one set of partitions per role and schema."""

    def __init__(self, database: Database, role: str, partitions: int) -> None:
        self.database = database
        self.role = role
        self.partitions = partitions
        self.replica = new_id()
        self._held: frozenset[int] = frozenset()
        self._renewed = float("-inf")
        # How often the leases expired before they were renewed: others may have had them in the meantime.
        self.lapses = 0
        self._in_use = partitions

    @property
    def held(self) -> frozenset[int]:
        """Empty once the leases have expired, whatever the database still says: it may be unreachable."""
        return self._held if time.monotonic() - self._renewed < LEASE_SECONDS else frozenset()

    @property
    def all_held(self) -> bool:
        return len(self.held) == self.partitions

    async def renew(self) -> frozenset[int]:
        """A heartbeat once a second, however often it is called. Returns the partitions held now."""
        started = time.monotonic()
        if started - self._renewed < RENEW_SECONDS:
            return self._held
        # A link that has gone silent must not hide that the leases are about to expire.
        async with asyncio.timeout(LEASE_SECONDS - RENEW_SECONDS), self.database.connection() as conn:
            row = await conn.fetchrow(RENEW, self.role, self.replica, self.partitions, LEASE)
        assert row is not None
        if time.monotonic() - self._renewed >= LEASE_SECONDS:
            self.lapses += 1
        held = frozenset(row["held"])
        self._tell(row["in_use"])
        if held != self._held:
            log.info(
                "leases_changed", role=self.role, replica=self.replica, held=len(held), of=self.partitions
            )
        self._held, self._renewed = held, started
        return held

    def _tell(self, in_use: int) -> None:
        if in_use not in (self._in_use, self.partitions):
            log.warning("partitions_differ", role=self.role, configured=self.partitions, in_use=in_use)
        self._in_use = in_use

    async def anybody_holds(self, conn: Connection, partition: int) -> bool:
        return bool(await conn.fetchval(ANYBODY_HOLDS, self.role, partition, LEASE))

    async def kept_during(self, work: Coroutine[Any, Any, T]) -> T:
        """Renews while something else takes long."""
        task = asyncio.create_task(work)
        try:
            while not (await asyncio.wait((task,), timeout=RENEW_SECONDS))[0]:
                await self.renew()
        finally:
            await end_tasks([task])
        return task.result()

    async def release(self) -> None:
        """Another replica takes over at its next heartbeat, before the leases expire."""
        if self._renewed == float("-inf"):
            return
        self._held, self._renewed = frozenset(), float("-inf")
        # After this time the leases have nearly expired by themselves.
        async with asyncio.timeout(LEASE_SECONDS - RENEW_SECONDS), self.database.connection() as conn:
            await conn.execute(RELEASE, self.role, self.replica)
