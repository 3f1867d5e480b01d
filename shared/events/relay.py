"""Sends outbox rows to a queue: at least once, in the order of each resource, each partition by one replica.

It is what TCP does. For each partition that it leases, a relay keeps a session in memory: a random id, and
the numbered batches that it has sent and that the receiver has not replied to, up to a window. The receiver
takes a session's batches in order and without a gap, stores each event once, and replies with what it has
stored. Only then are the rows deleted. A batch without a reply is sent again. For everything else there is
one cure: a new session from the oldest row. It begins with a new lease, a new connection (the link is lost
when the broker returns a message, too), or a reply that says "start over". The rows carry no state, so there
is none to repair. A resource's order is that of its rows, because whoever writes one has locked the resource.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import structlog

from shared.background import Loop, Wakeup
from shared.db.database import Connection, Database
from shared.events.bus import EVENT_LOG, Batch, Bus, BusError, Link, Queue, Refused, Reply
from shared.events.commit_listener import CommitListener
from shared.events.envelope import read_head
from shared.events.leases import RENEW_SECONDS, UNABLE_SECONDS, Leases
from shared.events.outbox import Backlog, FloorBound, backlog, delete_logged, read_unsent
from shared.events.session import REPLY_SECONDS, Session
from shared.observability.log import EventLine, log_line
from shared.observability.metrics import OUTBOX_AGE, OUTBOX_EVENTS, PUBLISHED
from shared.observability.tracing import trace_id_of

log = structlog.get_logger("relay")

# An event is sent at once if none is on its way. Otherwise those of this time are sent together: a row costs
# the event log and its database several times as much alone as among others.
BATCH_SECONDS = 0.05
# Replies are collected for this long, so that one statement deletes many rows. Less if rows wait for them.
DELETE_SECONDS = 0.2
ROOM_SECONDS = 0.02
# How often the floors rise, and how often everything is read from the first row.
BOUND_SECONDS = 0.5
READ_ALL_SECONDS = 60.0
REPORT_SECONDS = 15.0

OnRefused = Callable[[Connection, Sequence[Refused]], Awaitable[None]]


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
        # Rows that the receiver has, by id: partition, id and event id. They are still in the outbox.
        self._logged: dict[int, tuple[int, int, str]] = {}
        self._refused: dict[int, Refused] = {}
        self._waking = False
        self._read_up_to = 0
        # The last read left rows behind, because the window had no room for them.
        self._cut_short = False
        self._bound = FloorBound()
        # For the next read: it holds for whatever is read later.
        self._new_bound: int | None = None
        self._bound_at = self._sent_at = float("-inf")
        self._read_all_at = time.monotonic() + READ_ALL_SECONDS
        self._published = PUBLISHED.labels(service)
        # While the database is unreachable, it is tried often enough to keep the leases if it comes back.
        self.loop = Loop(f"{service}-relay", self.step, idle=1.0, wakeup=wakeup, longest_pause=RENEW_SECONDS)
        self.reporting = Loop(f"{service}-outbox", self.report, idle=REPORT_SECONDS)
        self.loops = [self.loop, self.reporting]

    async def step(self) -> bool:
        """Sends what is waiting, as far as the window allows. True if there may be more."""
        await self._commits.listen()
        link = await self._connected()
        held = await self.leases.renew()
        self._sessions = {
            number: self._sessions.get(number) or Session(number, self._reply_seconds) for number in held
        }
        await self._commits.wake_others(unless=self.leases.all_held)
        if not self._sessions:
            return False
        # Replies wake it, too: an event must not wait for a step that only deletes what they tell.
        is_new, self._read_up_to = self.wakeup.notified != self._read_up_to, self.wakeup.notified
        if is_new and not self._cut_short and any(one.in_flight for one in self._sessions.values()):
            await asyncio.sleep(self._sent_at + BATCH_SECONDS - time.monotonic())
            self._read_up_to = self.wakeup.notified
        async with self.database.connection() as conn:
            batches, more = await self._read(conn)
        for session in self._sessions.values():
            if (late := session.overdue_batch()) is not None:
                log.warning("no_reply", service=self.service, partition=late.partition, number=late.number)
                await link.send(late, again=True)
        for batch in batches:
            self._sent_at = time.monotonic()
            await link.send(batch)
            self._published.inc(len(batch.messages))
        # What no event waits for.
        async with self.database.connection() as conn:
            await self._settle_rows(conn)
            await self._refresh_bound(conn)
        return more

    async def report(self) -> bool:
        """The figures of the outbox, by the replica that leases the first partition."""
        found = Backlog()
        if 0 in self.leases.held:
            async with self.database.connection() as conn:
                found = await backlog(conn)
        if found.overdue:
            age = round(found.age_seconds)
            log.warning("events_overdue", service=self.service, events=found.overdue, seconds=age)
        OUTBOX_AGE.labels(self.service).set(found.age_seconds)
        OUTBOX_EVENTS.labels(self.service, "waiting").set(found.waiting)
        OUTBOX_EVENTS.labels(self.service, "overdue").set(found.overdue)
        return False

    async def stop(self) -> None:
        """Gives the leases up, so that another replica takes over at once."""
        try:
            async with asyncio.timeout(2):
                async with self.database.connection() as conn:
                    await self._settle_rows(conn)
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

    async def _read(self, conn: Connection) -> tuple[list[Batch], bool]:
        """What to send next, and whether there may be more for which there is room."""
        bound, self._new_bound = self._new_bound, None
        sessions = self._sessions.values()
        wanted = [(session, session.id, *limit) for session in sessions for limit in session.limits()]
        self._cut_short = len(wanted) < sum(len(session.streams) for session in sessions)
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
            self._cut_short |= is_full
            if bound is not None:
                session.raise_floor(stream, min(bound, rows[-1]["id"]) if is_full else bound)
            if rows:
                _log_published(self.service, rows)
                batches += session.batches_of(rows)
                more = more or (is_full and bool(session.limits()))
        return batches, more

    async def _refresh_bound(self, conn: Connection) -> None:
        now = time.monotonic()
        if now - self._bound_at > BOUND_SECONDS:
            self._new_bound, self._bound_at = await self._bound.refresh(conn), now
            if now > self._read_all_at or not self._new_bound:
                self._read_all_at = now + READ_ALL_SECONDS
                for session in self._sessions.values():
                    session.read_all()

    def _replied(self, reply: Reply) -> None:
        """Whichever session the reply is for: what is stored is stored."""
        for stored in reply.stored:
            self._logged[stored.row_id] = (reply.partition, stored.row_id, stored.event_id)
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
            pause = ROOM_SECONDS if self._cut_short or reply.start_over else DELETE_SECONDS
            asyncio.get_running_loop().call_later(pause, self.wakeup.wake)

    async def _settle_rows(self, conn: Connection) -> None:
        self._waking = False
        logged, refused = list(self._logged.values()), list(self._refused.values())
        if logged:
            await delete_logged(conn, logged)
            for _, row_id, _ in logged:
                del self._logged[row_id]
        if refused and self._on_refused is not None:  # The event log refuses none: it parks them.
            await self._on_refused(conn, refused)
            for one in refused:
                del self._refused[one.row_id]


def _log_published(service: str, rows: Sequence[Any]) -> None:
    for row in rows:
        try:
            request_id = read_head(row["envelope"]).request_id
        except (msgspec.DecodeError, UnicodeDecodeError):
            # The receiver parks it.
            request_id = None
        line = EventLine(
            service=service,
            request_id=request_id,
            trace_id=trace_id_of(row["traceparent"]),
            studio_id=row["studio_id"],
            event="event_published",
            event_id=row["event_id"],
            type=row["type"],
        )
        log_line(line)
