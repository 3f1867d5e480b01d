"""What a relay knows of a leased partition: what it has sent and may send next. Nothing of it is stored."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from shared.events.bus import Batch, Message
from shared.events.outbox import Stream
from shared.observability.tracing import in_span
from shared.wire import new_id

# How many events of a partition may be sent and not replied to: a backlog stays in Postgres. Studios with a
# backlog share a half of it, so that the other studios of their partition do not wait behind them.
WINDOW = 256
# How many events a batch holds, and how many bytes if it holds more than one.
BATCH_EVENTS = 32
BATCH_BYTES = 64 * 1024
# If there is no reply for this long, the oldest batch is sent again, then after twice as long. Only that one,
# so that a slow receiver is not buried in copies.
REPLY_SECONDS = 10.0
LONGEST_REPLY_SECONDS = 300.0


class Session:
    """A random id, and the numbered batches that the receiver has not replied to."""

    def __init__(self, partition: int, reply_seconds: float) -> None:
        self.partition = partition
        self.reply_seconds = reply_seconds
        # The first has all studios but those with a backlog, which have streams of their own.
        self.streams = [Stream(partition)]
        self.restarts = 0
        self.start()

    def start(self) -> None:
        """From the oldest row: floors stay below what is in flight, so that it is read and sent again."""
        self.id = new_id()
        self.number = 0
        self.unanswered: dict[int, Batch] = {}
        # By row id, the studio.
        self.in_flight: dict[int, str] = {}
        self.may_send_at = 0.0
        self._expect_reply(self.reply_seconds)

    def start_over(self) -> None:
        """A new session at once; the next ones after longer and longer pauses, until something is stored."""
        self.start()
        if self.restarts:
            self.may_send_at = time.monotonic() + 0.1 * 2 ** min(self.restarts, 6)
        self.restarts += 1

    def limits(self) -> list[tuple[Stream, int]]:
        """How many rows of each stream may be read now."""
        if time.monotonic() < self.may_send_at:
            return []
        studios = Counter(self.in_flight.values())
        backlogs = [stream.studio_id for stream in self.streams if stream.studio_id is not None]
        others = len(self.in_flight) - sum(studios[studio_id] for studio_id in backlogs)
        limits = [(self.streams[0], (WINDOW // 2 if backlogs else WINDOW) - others)]
        for stream in self.streams[1:]:
            limits.append((stream, max(1, WINDOW // 2 // len(backlogs)) - studios[stream.studio_id or ""]))
        # The first stream is not read for a few rows at a time.
        return [
            (stream, limit) for stream, limit in limits if limit >= (1 if stream.studio_id else WINDOW // 8)
        ]

    def was_read(self, stream: Stream, rows: Sequence[Any], limit: int) -> None:
        for row in rows:
            self.in_flight[row["id"]] = row["studio_id"]
        if stream.studio_id is None:
            if len(rows) == limit:
                for studio_id, count in Counter(row["studio_id"] for row in rows).items():
                    if count > limit // 4:
                        self.streams.append(Stream(self.partition, studio_id, stream.floor))
        elif not rows and stream.studio_id not in self.in_flight.values():
            # It has no backlog any more.
            self.streams.remove(stream)
            self.streams[0].floor = min(self.streams[0].floor, stream.floor)

    def raise_floor(self, stream: Stream, bound: int) -> None:
        """After a read. `bound`: every row up to this id was read, or will never be visible.

        The floor stays below what is in flight, which a new session reads again.
        """
        studios = {one.studio_id for one in self.streams[1:]}
        own = (
            row_id - 1
            for row_id, studio_id in self.in_flight.items()
            if (studio_id == stream.studio_id if stream.studio_id else studio_id not in studios)
        )
        stream.floor = max(stream.floor, min([bound, *own]))

    def read_all(self) -> None:
        for stream in self.streams:
            stream.floor = 0

    def batches_of(self, rows: Sequence[Any]) -> Iterator[Batch]:
        messages: list[Message] = []
        size = 0
        for row in rows:
            if messages and (len(messages) == BATCH_EVENTS or size + len(row["envelope"]) > BATCH_BYTES):
                yield self._next(messages)
                messages, size = [], 0
            with in_span(f"publish {row['type']}", row["traceparent"], "producer") as traceparent:
                messages.append(
                    Message(row["event_id"], row["type"], row["envelope"], traceparent, row["id"])
                )
            size += len(row["envelope"])
        yield self._next(messages)

    def _next(self, messages: list[Message]) -> Batch:
        if not self.unanswered:
            self._expect_reply(self.reply_seconds)
        self.number += 1
        batch = self.unanswered[self.number] = Batch(self.partition, self.id, self.number, messages)
        return batch

    def replied(self, rows: Iterable[int]) -> None:
        """The receiver has these rows. It replies to batches in their order."""
        for row_id in rows:
            self.in_flight.pop(row_id, None)
        self.restarts = 0
        sent_again = self._reply_timeout > self.reply_seconds
        for number, batch in list(self.unanswered.items()):
            if batch.messages[0].row_id in self.in_flight:
                break
            del self.unanswered[number]
            # If a reply was lost, so were probably the next ones.
            self._expect_reply(self.reply_seconds, at_once=sent_again)

    def overdue_batch(self) -> Batch | None:
        """The oldest batch, if there was no reply to it for too long."""
        if not self.unanswered or time.monotonic() < self._silent_at:
            return None
        self._expect_reply(min(self._reply_timeout * 2, LONGEST_REPLY_SECONDS))
        return next(iter(self.unanswered.values()))

    def _expect_reply(self, seconds: float, *, at_once: bool = False) -> None:
        self._reply_timeout = seconds
        self._silent_at = time.monotonic() + (0.0 if at_once else seconds)
