"""Moves outbox rows to the bus: at least once, in order per aggregate, each partition by one replica."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from shared.background import Wakeup
from shared.db.database import Database
from shared.events import outbox_rows
from shared.events.buckets import buckets_of
from shared.events.bus import EVENT_LOG, Acknowledgement, Bus, BusError, Queue
from shared.events.lanes import Lanes
from shared.events.leases import UNABLE_SECONDS, Leases
from shared.events.old_queue import OldQueue
from shared.events.outbox_rows import PER_AGGREGATE, Holder
from shared.events.publisher import Publisher
from shared.events.relay_session import RelaySession
from shared.events.sweep import Sweep

log = structlog.get_logger("relay")

# How many rows are claimed at once, and how many of the claimed may be unconfirmed.
BATCH = 256
UNCONFIRMED = 1024
# A batch waits this long for its slowest aggregate. One with many rows continues alongside the next batches.
BATCH_SECONDS = 0.02
# A row that was not acknowledged by then is published again.
ACKNOWLEDGE_SECONDS = 30.0
RETRY_EVERY = 5.0


class Relay:
    """`step` is run by a loop. Each partition is published by the one replica that leases it.

    It does no harm if two replicas believe that they hold the same lease: each publishes an aggregate's rows
    in order, and the event log stores each event once.
    """

    def __init__(
        self,
        database: Database,
        bus: Bus,
        wakeup: Wakeup,
        *,
        service: str,
        destination: Callable[[str], Queue] = lambda topic: EVENT_LOG,
        acknowledge_seconds: float = ACKNOWLEDGE_SECONDS,
    ) -> None:
        self.database = database
        self.bus = bus
        self.wakeup = wakeup
        self.service = service
        self.acknowledge_seconds = acknowledge_seconds
        self.leases = Leases(database, "relay", bus.partitions)
        self.session = RelaySession(database, service, wakeup)
        self._old_queue = OldQueue()
        self._lanes = Lanes(service)
        self._sweep = Sweep(database, self._lanes)
        self._publisher = Publisher(
            database,
            bus,
            wakeup,
            self._old_queue,
            service=service,
            destination=destination,
            on_unclaimed=self._lanes.lower,
        )
        # In these partitions we have published the rows in flight ourselves, on this connection. Elsewhere
        # their outcome is unknown.
        self._connection = 0
        self._own: frozenset[int] = frozenset()
        self._lapses = 0
        self._claim_unknown = False
        self._retried = time.monotonic()
        self._told = 0
        self._reached = time.monotonic()

    @property
    def unconfirmed(self) -> int:
        """How many rows are being published."""
        return self._publisher.unconfirmed

    async def start(self) -> None:
        await self.bus.on_acknowledged(self.service, self.settle)

    async def step(self) -> bool:
        """Publishes waiting rows. True if there are more. Raises if something could not be published."""
        if not await self.session.open():
            return False
        connection = await self._connected()
        held = await self.leases.renew()
        self._forget_lost(held)
        await self._wake_others()
        if not held:
            return False
        await self._publisher.raise_failure()
        await self._republish(held, connection)
        room = min(BATCH, UNCONFIRMED - self.unconfirmed)
        if room <= 0:
            await self._publisher.wait_for_one()
            return True
        rows, more = await self._claim(held, room)
        if not rows:
            return False
        aggregates = await self._publisher.publish(rows, BATCH_SECONDS)
        await self._publisher.raise_failure()
        # Every commit of more rows wakes the loop. Only the rest of a long aggregate needs another step.
        return more or len(rows) - aggregates >= PER_AGGREGATE - 1

    async def settle(self, acknowledgements: Sequence[Acknowledgement]) -> None:
        async with self.database.connection() as conn:
            await outbox_rows.settle(conn, acknowledgements)

    async def stop(self) -> None:
        """Gives the leases up, so that another replica takes over at once."""
        await self._publisher.stop()
        await self._sweep.stop()
        try:
            async with asyncio.timeout(2):
                await self.leases.release()
        except Exception as problem:
            log.warning("leases_not_released", service=self.service, error=type(problem).__name__)
        await self.session.close()

    async def _connected(self) -> int:
        """Another replica may still reach the bus, so whoever does not gives up its leases."""
        try:
            connection = await self.bus.ensure_connected()
        except BusError:
            if time.monotonic() - self._reached > UNABLE_SECONDS:
                await self.leases.release()
            raise
        self._reached = time.monotonic()
        return connection

    async def _wake_others(self) -> None:
        """After our own commits, which may be in partitions of others. Their wakeups are not passed on."""
        commits = self.wakeup.notified - self._publisher.own_wakeups - self.session.heard
        if commits != self._told and not self.leases.all_held:
            await self.session.wake_others()
        self._told = commits

    def _forget_lost(self, held: frozenset[int]) -> None:
        """Another replica may have claimed rows of a partition while it was not ours, and then have died."""
        if self.leases.lapses != self._lapses:
            self._lapses = self.leases.lapses
            self._own = frozenset()
        if not self._own <= held:
            self._own &= held
            self._lanes.assign(buckets_of(self._own, self.leases.partitions))

    async def _republish(self, held: frozenset[int], connection: int) -> None:
        """A broker may have lost everything before a new connection; a lease's last holder may be dead."""
        if connection != self._connection:
            self._connection, self._own = connection, frozenset()
        again = held - self._own
        if again:
            async with self.database.connection() as conn:
                # It reads the whole outbox, which may take longer than a lease lasts.
                reset = outbox_rows.reset_in_flight(conn, buckets_of(again, self.leases.partitions))
                await self.leases.kept_during(reset)
            self._old_queue.begin(again, exists=self.bus.has_old_queue)
            self._lanes.assign(buckets_of(held, self.leases.partitions))
            self._own = held
        elif time.monotonic() - self._retried > min(RETRY_EVERY, self.acknowledge_seconds):
            self._retried = time.monotonic()
            await self._retry()

    async def _retry(self) -> None:
        ids: list[int] = []
        async with self.database.connection() as conn:
            for buckets, start in self._lanes.starts():
                ids += await outbox_rows.retry_unacknowledged(conn, buckets, self.acknowledge_seconds, start)
        if ids:
            self._lanes.lower(min(ids))
            log.warning("events_published_again", service=self.service, count=len(ids))

    async def _claim(self, held: frozenset[int], room: int) -> tuple[list[Any], bool]:
        async with self.database.connection() as conn:
            await self._old_queue.refresh(conn)
            if self._claim_unknown:
                buckets = buckets_of(held, self.leases.partitions)
                await outbox_rows.reset_in_flight(conn, buckets, self._publisher.busy)
                self._lanes.lower_to_start()
            await self._lanes.look(conn)
            self._sweep.poll()
            # A claim may commit although its answer is lost. Nobody would publish its rows.
            self._claim_unknown = True
            open_buckets = {
                bucket
                for bucket in buckets_of(held - self._old_queue.held, self.leases.partitions)
                if not self._publisher.is_refused(bucket)
            }
            holder = Holder(self.leases.replica, len(held))
            claimed = await self._lanes.claim(conn, open_buckets, self._publisher.busy, room, holder)
            self._claim_unknown = False
        return claimed
