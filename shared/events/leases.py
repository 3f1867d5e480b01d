"""Time-limited leases: each partition belongs to one replica, and moves within seconds if that one dies."""

import asyncio
import time
from datetime import timedelta

import structlog

from shared.db.database import Database
from shared.wire import new_id

log = structlog.get_logger("leases")

# A replica without a heartbeat for this long has lost its leases.
LEASE_SECONDS = 5.0
RENEW_SECONDS = 1.0
# A replica that cannot do the work of its leases for this long gives them up.
UNABLE_SECONDS = 3.0
LEASE = timedelta(seconds=LEASE_SECONDS)

# Every replica computes the same assignment from the replicas that are alive, gives up what is no longer its
# own and takes what is free. A time is valid only within LEASE_SECONDS of the database's clock, on either
# side.
RENEW = """
WITH seen AS (
    INSERT INTO lease_replicas (role, replica, seen_at) VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (role, replica) DO UPDATE SET seen_at = excluded.seen_at
), forgotten AS (
    DELETE FROM lease_replicas WHERE role = $1 AND replica <> $2
      AND seen_at NOT BETWEEN clock_timestamp() - 10 * $4::interval AND clock_timestamp() + $4::interval
), alive AS (
    SELECT replica, row_number() OVER (ORDER BY replica) - 1 AS place, count(*) OVER () AS replicas
    FROM (SELECT replica FROM lease_replicas WHERE role = $1 AND replica <> $2
            AND seen_at BETWEEN clock_timestamp() - $4::interval AND clock_timestamp() + $4::interval
          UNION ALL SELECT $2::uuid) AS others_and_we
), mine AS (
    SELECT partition FROM generate_series(0, $3 - 1) AS partition JOIN alive
    ON alive.replica = $2 AND partition % alive.replicas = alive.place
), released AS (
    DELETE FROM leases WHERE role = $1 AND replica = $2 AND partition NOT IN (SELECT partition FROM mine)
)
INSERT INTO leases AS l (role, partition, replica, renewed_at)
SELECT $1, partition, $2, clock_timestamp() FROM mine ORDER BY partition
ON CONFLICT (role, partition) DO UPDATE SET replica = excluded.replica, renewed_at = excluded.renewed_at
WHERE l.replica = $2
   OR l.renewed_at NOT BETWEEN clock_timestamp() - $4::interval AND clock_timestamp() + $4::interval
RETURNING partition
"""
RELEASE = """
WITH gone AS (DELETE FROM lease_replicas WHERE role = $1 AND replica = $2)
DELETE FROM leases WHERE role = $1 AND replica = $2
"""


class Leases:
    """`role` names the work: one set of partitions per role and schema.

    They balance the work between replicas. Nothing is lost or reordered if two replicas believe that they
    hold the same lease.
    """

    def __init__(self, database: Database, role: str, partitions: int) -> None:
        self.database = database
        self.role = role
        self.partitions = partitions
        self.replica = new_id()
        self._held: frozenset[int] = frozenset()
        self._renewed = float("-inf")

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
            rows = await conn.fetch(RENEW, self.role, self.replica, self.partitions, LEASE)
        held = frozenset(row["partition"] for row in rows)
        if held != self._held:
            log.info(
                "leases_changed", role=self.role, replica=self.replica, held=len(held), of=self.partitions
            )
        self._held, self._renewed = held, started
        return held

    async def release(self) -> None:
        """Another replica takes over at its next heartbeat, before the leases expire."""
        if self._renewed == float("-inf"):
            return
        self._held, self._renewed = frozenset(), float("-inf")
        # After this time the leases have nearly expired by themselves.
        async with asyncio.timeout(LEASE_SECONDS - RENEW_SECONDS), self.database.connection() as conn:
            await conn.execute(RELEASE, self.role, self.replica)


WRITE = """
INSERT INTO lease_replicas (role, replica, seen_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (role, replica) DO UPDATE SET seen_at = excluded.seen_at
"""
NOBODY = "00000000-0000-0000-0000-000000000000"


async def check_writable(database: Database, role: str) -> None:
    """Raises unless the database takes a write."""
    async with database.transaction() as conn:
        await conn.execute(WRITE, role, NOBODY)
