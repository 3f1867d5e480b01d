"""Publishes claimed outbox rows: many confirms outstanding at once, but only one per aggregate."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
import structlog

from shared.background import Wakeup, end_tasks
from shared.db.database import Database
from shared.events import outbox_rows
from shared.events.bus import Bus, BusError, Message, Queue
from shared.events.envelope import read_head
from shared.events.old_queue import OldQueue
from shared.events.outbox_rows import Reference
from shared.events.refused_buckets import RefusedBuckets
from shared.observability.metrics import PUBLISHED
from shared.observability.tracing import in_span, trace_id_of

log = structlog.get_logger("relay")

# Longer than the bus's own timeout: this only ends a publish that would wait for ever.
PUBLISH_TIMEOUT = 30.0


class Publisher:
    def __init__(
        self,
        database: Database,
        bus: Bus,
        wakeup: Wakeup,
        old_queue: OldQueue,
        *,
        service: str,
        destination: Callable[[str], Queue],
        on_unclaimed: Callable[[int], None],
    ) -> None:
        """`on_unclaimed` is called with the lowest id of rows that are waiting again."""
        self.database = database
        self.bus = bus
        self.wakeup = wakeup
        self.service = service
        self.destination = destination
        self.on_unclaimed = on_unclaimed
        self.unconfirmed = 0
        self.own_wakeups = 0
        self._old_queue = old_queue
        self._publishing: dict[str, asyncio.Task[None]] = {}
        self._left_behind: set[asyncio.Task[None]] = set()
        # By aggregate: rows that are marked as in flight although they were not published.
        self._failed: dict[str, list[int]] = {}
        self._failure: Exception | None = None
        self._refused = RefusedBuckets()
        self._batch = 0
        self._published = PUBLISHED.labels(service)

    @property
    def busy(self) -> list[str]:
        """Aggregates of which nothing may be claimed: it would overtake rows that are not published yet."""
        return [*self._publishing, *self._failed]

    def is_refused(self, bucket: int) -> bool:
        """Whether the bus has refused this bucket's rows a moment ago. The others go on."""
        return self._refused.rests(bucket)

    async def publish(self, rows: Sequence[Any], wait_seconds: float) -> int:
        """Waits for the slowest aggregate, but no longer than that. Returns the number of aggregates."""
        aggregates: dict[str, list[Any]] = defaultdict(list)
        for row in rows:
            aggregates[row["aggregate"]].append(row)
        started = {}
        self._batch += 1
        for aggregate, own in aggregates.items():
            publishing = self._publish_aggregate(aggregate, own, self._batch)
            started[aggregate] = task = asyncio.create_task(publishing)
            self.unconfirmed += len(own)
            task.add_done_callback(partial(self._done, aggregate, len(own)))
        self._publishing |= started
        _, slow = await asyncio.wait(started.values(), timeout=wait_seconds)
        self._left_behind |= slow
        return len(started)

    async def wait_for_one(self) -> None:
        if self._publishing:
            await asyncio.wait(self._publishing.values(), return_when=asyncio.FIRST_COMPLETED)

    async def raise_failure(self) -> None:
        """Marks the failed rows as waiting again. If that fails too, their aggregates stay busy.

        Raises if the bus has begun to refuse a bucket, or refuses all: then the loop pauses.
        """
        if self._failed:
            failed = dict(self._failed)
            ids = [row_id for own in failed.values() for row_id in own]
            async with self.database.connection() as conn:
                await outbox_rows.unclaim(conn, ids)
            self.on_unclaimed(min(ids))
            # Others may have failed in the meantime.
            for aggregate in failed:
                del self._failed[aggregate]
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def stop(self) -> None:
        await end_tasks(self._publishing.values())

    async def _publish_aggregate(self, aggregate: str, rows: list[Any], batch: int) -> None:
        for place, row in enumerate(rows):
            try:
                message = await self._publish_row(row)
            except (BusError, TimeoutError) as failure:
                # Later rows of the aggregate must not overtake it.
                self._failed[aggregate] = [left["id"] for left in rows[place:]]
                if self._refused.refuse(row["bucket"], batch):
                    self._failure = self._failure or failure
                return
            except Exception as failure:
                # Not the bus's fault: it stays in flight, and is tried again later and later.
                log.error("row_not_published", service=self.service, row=row["id"], exc_info=failure)
                return
            self._refused.accept(row["bucket"])
            self._published.inc()
            _log_published(message)

    async def _publish_row(self, row: Any) -> Message:
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
            partition = row["bucket"] % self.bus.partitions
            old = queue.partitioned and self._old_queue.takes(partition, row["id"])
            async with asyncio.timeout(PUBLISH_TIMEOUT):
                await self.bus.publish(message, queue, by_old_queue=old)
        return message

    def _done(self, aggregate: str, count: int, task: "asyncio.Task[None]") -> None:
        del self._publishing[aggregate]
        self.unconfirmed -= count
        if task in self._left_behind:
            # More rows of it may be waiting.
            self._left_behind.discard(task)
            self.own_wakeups += 1
            self.wakeup.notify()


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
