"""Moves outbox rows to the bus: at least once, in order per aggregate, each partition by one replica."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
import structlog

from shared.background import Wakeup, end_tasks
from shared.db.database import Database
from shared.events import outbox_rows
from shared.events.buckets import buckets_of
from shared.events.bus import EVENT_LOG, Acknowledgement, Bus, BusError, Message, Queue
from shared.events.envelope import read_head
from shared.events.leases import Leases
from shared.events.old_queue import OldQueue
from shared.events.outbox_rows import PER_AGGREGATE, Reference
from shared.events.relay_session import RelaySession
from shared.observability.metrics import PUBLISHED
from shared.observability.tracing import in_span, trace_id_of

log = structlog.get_logger("relay")

# How many rows are claimed at once, and how many of the claimed may be unconfirmed.
BATCH = 256
UNCONFIRMED = 1024
# Longer than the bus's own timeout: this only ends a publish that would wait for ever.
PUBLISH_TIMEOUT = 30.0
# A batch waits this long for its slowest aggregate. One with many rows continues alongside the next batches.
BATCH_SECONDS = 0.02
# A row that was not acknowledged by then is published again.
ACKNOWLEDGE_SECONDS = 30.0
RETRY_EVERY = 5.0
STUCK_EVERY = 1.0
# A replica without the bus for this long gives up its leases.
UNREACHABLE_SECONDS = 3.0


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
        self.destination = destination
        self.acknowledge_seconds = acknowledge_seconds
        self.leases = Leases(database, "relay", bus.partitions)
        self.session = RelaySession(database, service, wakeup)
        self._publishing: dict[str, asyncio.Task[None]] = {}
        self._left_behind: set[asyncio.Task[None]] = set()
        self._unconfirmed = 0
        self._published = PUBLISHED.labels(service)
        self._failed: list[int] = []
        self._failure: Exception | None = None
        self._known: tuple[int, frozenset[int]] = (0, frozenset())
        self._retried = time.monotonic()
        self._old_queue = OldQueue()
        self._looked = time.monotonic()
        self._stuck: frozenset[int] = frozenset()
        self._own_wakeups = 0
        self._told = 0
        self._reached = time.monotonic()

    async def start(self) -> None:
        await self.bus.on_acknowledged(self.service, self.settle)

    async def step(self) -> bool:
        """Publishes waiting rows. True if there are more. Raises if something could not be published."""
        if not await self.session.open():
            return False
        connection = await self._connected()
        held = await self.leases.renew()
        await self._wake_others()
        if not held:
            return False
        await self._raise_failure()
        buckets = buckets_of(held, self.leases.partitions)
        await self._republish(held, buckets, connection)
        room = min(BATCH, UNCONFIRMED - self._unconfirmed)
        if room <= 0:
            await asyncio.wait(self._publishing.values(), return_when=asyncio.FIRST_COMPLETED)
            return True
        async with self.database.connection() as conn:
            await self._old_queue.refresh(conn)
            open_ones = buckets_of(held - self._old_queue.held, self.leases.partitions)
            moving = [bucket for bucket in open_ones if bucket not in self._stuck]
            rows = await outbox_rows.claim(conn, moving, list(self._publishing), room)
            if not rows and time.monotonic() - self._looked > STUCK_EVERY:
                self._looked = time.monotonic()
                self._stuck = await outbox_rows.stuck_buckets(conn, buckets)
        if not rows:
            return False
        aggregates = self._publish(rows)
        _, slow = await asyncio.wait(aggregates.values(), timeout=BATCH_SECONDS)
        self._left_behind |= slow
        await self._raise_failure()
        # Every commit of more rows wakes the loop. Only the rest of a long aggregate needs another step.
        return len(rows) == room or len(rows) - len(aggregates) >= PER_AGGREGATE - 1

    async def settle(self, acknowledgements: Sequence[Acknowledgement]) -> None:
        async with self.database.connection() as conn:
            await outbox_rows.settle(conn, acknowledgements)

    async def stop(self) -> None:
        """Gives the leases up, so that another replica takes over at once."""
        await end_tasks(self._publishing.values())
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
            if time.monotonic() - self._reached > UNREACHABLE_SECONDS:
                await self.leases.release()
            raise
        self._reached = time.monotonic()
        return connection

    async def _wake_others(self) -> None:
        """After our own commits, which may be in partitions of others. Their wakeups are not passed on."""
        commits = self.wakeup.notified - self._own_wakeups - self.session.heard
        if commits != self._told and not self.leases.all_held:
            await self.session.wake_others()
        self._told = commits

    async def _republish(self, held: frozenset[int], buckets: list[int], connection: int) -> None:
        """A broker may have lost everything before a new connection; a lease's last holder may be dead."""
        known_connection, known = self._known
        again = held if connection != known_connection else held - known
        if again:
            async with self.database.connection() as conn:
                await outbox_rows.reset_in_flight(conn, buckets_of(again, self.leases.partitions))
            self._old_queue.begin(again, exists=self.bus.has_old_queue)
        elif time.monotonic() - self._retried > min(RETRY_EVERY, self.acknowledge_seconds):
            self._retried = time.monotonic()
            async with self.database.connection() as conn:
                count = await outbox_rows.retry_unacknowledged(conn, buckets, self.acknowledge_seconds)
            if count:
                log.warning("events_published_again", service=self.service, count=count)
        self._known = connection, held

    def _publish(self, rows: list[Any]) -> dict[str, "asyncio.Task[None]"]:
        """Many confirms are outstanding at once, but only one per aggregate, so that the order is kept."""
        aggregates: dict[str, list[Any]] = defaultdict(list)
        for row in rows:
            aggregates[row["aggregate"]].append(row)
        started = {}
        for aggregate, own in aggregates.items():
            started[aggregate] = task = asyncio.create_task(self._publish_aggregate(own))
            self._unconfirmed += len(own)
            task.add_done_callback(partial(self._done, aggregate, len(own)))
        self._publishing |= started
        return started

    async def _publish_aggregate(self, rows: list[Any]) -> None:
        for place, row in enumerate(rows):
            try:
                with in_span(f"publish {row['type']}", row["traceparent"], "producer") as traceparent:
                    message = Message(
                        row["event_id"],
                        row["type"],
                        row["envelope"],
                        traceparent,
                        row["bucket"],
                        self.service,
                        Reference(row["id"], row["version"]).text(),
                    )
                    queue = self.destination(row["type"])
                    partition = row["bucket"] % self.leases.partitions
                    old = queue.partitioned and self._old_queue.takes(partition, row["id"])
                    async with asyncio.timeout(PUBLISH_TIMEOUT):
                        await self.bus.publish(message, queue, by_old_queue=old)
            except (BusError, TimeoutError) as failure:
                # Later rows of the aggregate must not overtake it.
                self._failed += [row["id"] for row in rows[place:]]
                self._failure = self._failure or failure
                return
            self._published.inc()
            _log_published(message)

    def _done(self, aggregate: str, count: int, task: "asyncio.Task[None]") -> None:
        del self._publishing[aggregate]
        self._unconfirmed -= count
        if task in self._left_behind:
            # More rows of it may be waiting.
            self._left_behind.discard(task)
            self._own_wakeups += 1
            self.wakeup.notify()

    async def _raise_failure(self) -> None:
        if self._failed:
            async with self.database.connection() as conn:
                await outbox_rows.unclaim(conn, self._failed)
            self._failed = []
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def _log_published(message: Message) -> None:
    """The consumer parks an envelope that cannot be decoded. Logging it here must not stop the others."""
    try:
        head = read_head(message.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        head = None
    log.info(
        "event_published",
        request_id=head.request_id if head else None,
        trace_id=trace_id_of(message.traceparent),
        studio_id=head.studio_id if head else None,
        event_id=message.id,
        type=message.topic,
    )
