"""Sends outbox rows to a queue: at least once, in the order of each resource, each partition by one replica.

It is what TCP does. For each partition that it leases, a relay keeps a session in memory: a random id, and
the numbered batches that it has sent and that the receiver has not replied to, up to a window. The receiver
takes a session's batches in order and without a gap, stores each event once, and replies with what it has
stored. Only then are the rows deleted. There is one cure for everything: a new session from the oldest row.
It begins with a new lease, a new connection, a message that the broker returned, or a reply that says "start
over". The rows carry no state, so there is none to repair.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import structlog

from shared.background import Loop, Wakeup
from shared.db.database import Connection, Database
from shared.events.bus import EVENT_LOG, Batch, Bus, BusError, Link, Message, Queue, Refused, Reply
from shared.events.commit_listener import CommitListener
from shared.events.envelope import read_head
from shared.events.leases import RENEW_SECONDS, UNABLE_SECONDS, Leases
from shared.events.outbox import LoggedRow, SettledIds, Stream, backlog, delete_logged, read_unsent
from shared.observability.metrics import OUTBOX_AGE, OUTBOX_EVENTS, PUBLISHED
from shared.observability.tracing import in_span, trace_id_of
from shared.wire import new_id

log = structlog.get_logger("relay")

# How many events of a partition may be sent and not replied to. It is the flow control: a backlog stays in
# Postgres. Studios with a backlog share a half of it, so that the other studios of their partition do not
# wait behind them.
WINDOW = 256
# How many events a batch holds, and how many bytes if it holds more than one.
BATCH_EVENTS = 32
BATCH_BYTES = 64 * 1024
# If there is no reply for this long, the oldest batch is sent again, then after twice as long. Only that one,
# so that a slow receiver is not buried in copies.
REPLY_SECONDS = 10.0
LONGEST_REPLY_SECONDS = 300.0
# Replies are collected for this long, so that one statement deletes many rows.
DELETE_SECONDS = 0.02
# How often the floors rise, and how often everything is read from the first row.
SETTLE_SECONDS = 0.5
READ_ALL_SECONDS = 60.0
REPORT_SECONDS = 15.0

OnRefused = Callable[[Connection, Sequence[Refused]], Awaitable[None]]


class Session:
    """The state of one leased partition. Nothing of it is stored."""

    def __init__(self, partition: int, reply_seconds: float) -> None:
        self.partition = partition
        self.reply_seconds = reply_seconds
        # The first has all studios but those with a backlog, which have streams of their own.
        self.streams = [Stream(partition)]
        self.restarts = 0
        self.start()

    def start(self) -> None:
        """From the oldest row: whatever was in flight is read and sent again."""
        self.id = new_id()
        self.number = 0
        self.unanswered: dict[int, Batch] = {}
        # By row id, the studio.
        self.in_flight: dict[int, str] = {}
        self.may_send_at = 0.0
        self._expect_reply(self.reply_seconds)

    def start_over(self) -> None:
        """At once, and then more and more slowly for as long as nothing is stored in between."""
        self.start()
        pause = 0.1 * 2 ** min(self.restarts, 6) if self.restarts else 0.0
        self.may_send_at = time.monotonic() + pause
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
        for number, batch in list(self.unanswered.items()):
            if batch.messages[0].row_id in self.in_flight:
                break
            del self.unanswered[number]
        self.restarts = 0
        self._expect_reply(self.reply_seconds)

    def silent_batch(self) -> Batch | None:
        """The oldest batch, if there was no reply for too long."""
        if not self.unanswered or time.monotonic() < self._silent_at:
            return None
        self._expect_reply(min(self._reply_timeout * 2, LONGEST_REPLY_SECONDS))
        return next(iter(self.unanswered.values()))

    def _expect_reply(self, seconds: float) -> None:
        self._reply_timeout = seconds
        self._silent_at = time.monotonic() + seconds


class Relay:
    """`step` is run by a loop, which a commit wakes."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        wakeup: Wakeup,
        *,
        service: str,
        queue: Queue = EVENT_LOG,
        on_refused: OnRefused | None = None,
        reply_seconds: float = REPLY_SECONDS,
    ) -> None:
        self.database = database
        self.bus = bus
        self.wakeup = wakeup
        self.service = service
        self.queue = queue
        self.leases = Leases(database, "relay", EVENT_LOG.partitions)
        self._reply_seconds = reply_seconds
        self._on_refused = on_refused
        self._commits = CommitListener(database, service, wakeup)
        self._sessions: dict[int, Session] = {}
        self._link: Link | None = None
        self._linked_at = time.monotonic()
        # Rows that the receiver has, by id. They are still in the outbox.
        self._logged: dict[int, LoggedRow] = {}
        self._refused: dict[int, Refused] = {}
        self._waking = False
        self._settled = SettledIds()
        self._settled_at = float("-inf")
        self._read_all_at = time.monotonic() + READ_ALL_SECONDS
        self._published = PUBLISHED.labels(service)
        # While the database is unreachable, expired leases are noticed in time.
        self.loop = Loop(f"{service}-relay", self.step, idle=1.0, wakeup=wakeup, longest_pause=RENEW_SECONDS)
        self.reporting = Loop(f"{service}-outbox", self.report, idle=REPORT_SECONDS)
        self.loops = [self.loop, self.reporting]

    async def step(self) -> bool:
        """Sends what is waiting, as far as the window allows. True if there may be more."""
        await self._commits.listen()
        link = await self._connected()
        self._hold(await self.leases.renew())
        await self._commits.wake_others(unless=self.leases.all_held)
        if not self._sessions:
            return False
        async with self.database.connection() as conn:
            await self._delete_logged(conn)
            batches, more = await self._read(conn)
        for session in self._sessions.values():
            if (silent := session.silent_batch()) is not None:
                log.warning(
                    "no_reply", service=self.service, partition=silent.partition, number=silent.number
                )
                await link.send(silent)
        for batch in batches:
            await link.send(batch)
            self._published.inc(len(batch.messages))
        return more

    async def report(self) -> bool:
        """The figures of the outbox, by the replica that leases the first partition."""
        if 0 in self.leases.held:
            async with self.database.connection() as conn:
                found = await backlog(conn)
            waiting, overdue, age = found.waiting, found.overdue, found.age_seconds
            if overdue:
                log.warning("events_overdue", service=self.service, events=overdue, seconds=round(age))
        else:
            waiting, overdue, age = 0, 0, 0.0
        OUTBOX_AGE.labels(self.service).set(age)
        OUTBOX_EVENTS.labels(self.service, "waiting").set(waiting)
        OUTBOX_EVENTS.labels(self.service, "overdue").set(overdue)
        return False

    async def stop(self) -> None:
        """Gives the leases up, so that another replica takes over at once."""
        try:
            async with asyncio.timeout(2):
                async with self.database.connection() as conn:
                    await self._delete_logged(conn)
                await self.leases.release()
        except Exception as problem:
            log.warning("leases_not_released", service=self.service, error=type(problem).__name__)
        await self._commits.close()
        if self._link is not None:
            await self._link.close()

    async def _connected(self) -> Link:
        if self._link is not None and not self._link.is_lost:
            self._linked_at = time.monotonic()
            return self._link
        if self._link is not None:
            await self._link.close()
            self._link = None
        try:
            self._link = await self.bus.link(self.queue, self.service, self._replied)
        except BusError:
            if time.monotonic() - self._linked_at > UNABLE_SECONDS:
                # Another replica may still reach the bus.
                self._sessions.clear()
                await self.leases.release()
            raise
        for session in self._sessions.values():
            session.start()
        return self._link

    def _hold(self, partitions: frozenset[int]) -> None:
        for lost in self._sessions.keys() - partitions:
            del self._sessions[lost]
        for gained in partitions - self._sessions.keys():
            self._sessions[gained] = Session(gained, self._reply_seconds)

    async def _read(self, conn: Connection) -> tuple[list[Batch], bool]:
        """What to send next, and whether there may be more for which there is room."""
        now = time.monotonic()
        bound: int | None = None
        if now - self._settled_at > SETTLE_SECONDS:
            bound, self._settled_at = await self._settled.refresh(conn), now
            if now > self._read_all_at or not bound:
                self._read_all_at = now + READ_ALL_SECONDS
                for session in self._sessions.values():
                    session.read_all()
        sessions = self._sessions.values()
        wanted = [(session, session.id, *limit) for session in sessions for limit in session.limits()]
        if not wanted:
            return [], False
        sent = [*self._logged, *self._refused, *(row_id for one in sessions for row_id in one.in_flight)]
        backlogs = [stream.studio_id for one in sessions for stream in one.streams if stream.studio_id]
        found = await read_unsent(conn, [(stream, limit) for *_, stream, limit in wanted], sent, backlogs)
        batches: list[Batch] = []
        more = False
        for (session, id_, stream, limit), rows in zip(wanted, found, strict=True):
            if session.id != id_:
                # A reply came meanwhile: it starts over, with older rows than these.
                more = True
                continue
            session.was_read(stream, rows, limit)
            is_full = len(rows) == limit
            if bound is not None:
                session.raise_floor(stream, min(bound, rows[-1]["id"]) if is_full else bound)
            if rows:
                _log_published(rows)
                batches += session.batches_of(rows)
                more = more or (is_full and bool(session.limits()))
        return batches, more

    def _replied(self, reply: Reply) -> None:
        """Whichever session the reply is for: what is stored is stored."""
        for stored in reply.stored:
            self._logged[stored.row_id] = LoggedRow(reply.partition, stored.row_id, stored.event_id)
        for refused in reply.refused:
            self._refused[refused.row_id] = refused
        session = self._sessions.get(reply.partition)
        if session is not None and session.id == reply.session:
            if reply.start_over:
                log.info("session_starts_over", service=self.service, partition=reply.partition)
                session.start_over()
            else:
                session.replied([one.row_id for one in reply.stored] + [one.row_id for one in reply.refused])
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_later(DELETE_SECONDS, self.wakeup.wake)

    async def _delete_logged(self, conn: Connection) -> None:
        self._waking = False
        logged, refused = list(self._logged.values()), list(self._refused.values())
        if logged:
            await delete_logged(conn, logged)
            for row in logged:
                del self._logged[row.id]
        if refused and self._on_refused is not None:
            await self._on_refused(conn, refused)
            for one in refused:
                del self._refused[one.row_id]


def _log_published(rows: Sequence[Any]) -> None:
    for row in rows:
        try:
            request_id = read_head(row["envelope"]).request_id
        except (msgspec.DecodeError, UnicodeDecodeError):
            # The receiver parks it.
            request_id = None
        log.info(
            "event_published",
            request_id=request_id,
            trace_id=trace_id_of(row["traceparent"]),
            studio_id=row["studio_id"],
            event_id=row["event_id"],
            type=row["type"],
        )
