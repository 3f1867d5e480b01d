"""What one lane has loaded, and its attempts in flight: send, record, and update the circuit breaker."""

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec
import structlog

from services.webhooks.actions.manage_endpoints import disable_endpoints
from services.webhooks.dispatcher.sender import NotFresh, Sent
from services.webhooks.rules.freshness import Freshness
from services.webhooks.rules.retry import Breaker, after_attempt, next_attempt
from services.webhooks.rules.signing import signature
from services.webhooks.store import lanes
from services.webhooks.store.attempts import Completed, Due
from services.webhooks.store.lanes import Lease
from services.webhooks.telemetry import report_attempt
from services.webhooks.wire.endpoints import LoggedAttempt
from shared.background import Backoff, end_tasks
from shared.db.database import Connection, Database
from shared.db.unavailable import is_unavailable
from shared.wire import now

if TYPE_CHECKING:
    from services.webhooks.dispatcher.dispatcher import Dispatcher

log = structlog.get_logger("dispatcher")

T = TypeVar("T")
# While the database is away. Deliveries go on this soon after it is back.
LONGEST_PAUSE = 1.0
# Enough to keep a lane busy, few enough to keep memory flat.
PREFETCH_LIMIT = 64
# For an endpoint that fails: the rest would be unloaded when it is paused.
FAILING_LIMIT = 4


async def when_available(database: Database, work: Callable[[Connection], Awaitable[T]]) -> T:
    """A database restart delays results and loads, but loses none, and no lane gives up its lease."""
    backoff = Backoff(longest=LONGEST_PAUSE)
    while True:
        try:
            async with database.connection() as conn:
                return await work(conn)
        except Exception as problem:
            if not is_unavailable(problem):
                raise
            log.warning("database_unavailable", error=type(problem).__name__)
        await backoff.pause()


SIGNING = ("webhook-id", "webhook-timestamp", "webhook-signature")


def headers_for(due: Due, keys: Sequence[bytes], at: int) -> dict[str, str]:
    """Every attempt has a new timestamp and signature. The body stays the same, byte for byte."""
    return {
        "Content-Type": "application/json",
        "webhook-id": due.event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(keys, due.event_id, at, due.body),
        "webhook-sequence": str(due.sequence),
    }


class Prefetch:
    """`held` has the ids of all loaded deliveries, `ready` those not started yet.

    `exhausted` means that the last query found nothing more that is due.
    """

    def __init__(self) -> None:
        self.ready: deque[Due] = deque()
        self.held: set[str] = set()
        self.exhausted = False
        self.size = PREFETCH_LIMIT
        self._low = PREFETCH_LIMIT // 4

    def fit(self, rate_limit: float | None, *, fifo: bool, failing: bool) -> None:
        """With a rate limit, load at most one second's worth. A FIFO lane loads when it has sent all."""
        self.size = FAILING_LIMIT if failing else PREFETCH_LIMIT
        if rate_limit is not None:
            self.size = min(self.size, max(2, math.ceil(rate_limit)))
        self._low = 1 if fifo else max(1, self.size // 4)

    @property
    def is_half_empty(self) -> bool:
        return len(self.ready) < self.size // 2

    @property
    def is_low(self) -> bool:
        return not self.exhausted and len(self.ready) < self._low

    def take(self, found: list[Due]) -> None:
        self.ready.extend(found)
        self.held.update(due.id for due in found)

    def drop_ready(self) -> None:
        """Unload what was not attempted. It is unchanged in the database and is loaded again later."""
        self.held.difference_update(due.id for due in self.ready)
        self.ready.clear()
        self.exhausted = False


class InFlight:
    """`lost`: another dispatcher owns the lane now. `disable_reason`: why the endpoint is being disabled.

    `progress` is set when an attempt ends, and when the lane is woken.
    """

    def __init__(self, resources: "Dispatcher", lease: Lease, breaker: Breaker, prefetch: Prefetch) -> None:
        self.breaker = breaker
        self.lost = False
        self.disable_reason: str | None = None
        self.fifo = False
        self.progress = asyncio.Event()
        self._resources = resources
        self._lease = lease
        self._prefetch = prefetch
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    @property
    def has_room(self) -> bool:
        if self.fifo:
            return not self._tasks
        return len(self._tasks) < min(self.breaker.window, self._resources.window_of(self._lease.studio_id))

    def is_halted(self, moment: datetime) -> bool:
        """Whether no new attempt may start."""
        return self.lost or self.disable_reason is not None or self.breaker.is_paused(moment)

    def begin(self, due: Due, url: str, keys: Sequence[bytes], fresh: Freshness) -> None:
        task = asyncio.create_task(self._deliver(due, url, keys, fresh))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.progress.set()

    async def wait_for_all(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self) -> None:
        await end_tasks(self._tasks)

    async def _deliver(self, due: Due, url: str, keys: Sequence[bytes], fresh: Freshness) -> None:
        headers = headers_for(due, keys, int(time.time()))
        tenant = self._lease.studio_id
        try:
            sent = await self._resources.sender.post(url, headers, due.body, tenant=tenant, fresh=fresh)
        except NotFresh:
            # It is loaded again, with what has changed; in order if that matters.
            self._prefetch.held.discard(due.id)
            self._prefetch.drop_ready()
            return
        try:
            await self._record(due, headers, sent)
        except Exception:
            log.error("recording_failed", endpoint_id=self._lease.endpoint_id, exc_info=True)
            self.lost = True

    async def _record(self, due: Due, headers: Mapping[str, str], sent: Sent) -> None:
        moment = now()
        schedule = self._resources.schedule
        was_failing = self.breaker.failing_since is not None
        self.breaker = after_attempt(self.breaker, sent.outcome, schedule, moment)
        if self.fifo and not sent.outcome.succeeded:
            self._prefetch.drop_ready()
        reason = self._reason_to_disable(sent, moment)
        verdict = next_attempt(sent.outcome, due.step, schedule, random.random())
        attempt = LoggedAttempt(
            sent.at,
            sent.duration_ms,
            sent.outcome.status,
            sent.text,
            sent.outcome.error,
            {name: headers[name] for name in SIGNING},
            sent.headers,
        )
        done = Completed(self._lease, due, verdict, msgspec.json.encode(attempt).decode())
        written = await self._resources.completions.submit(done)
        report_attempt(done, sent)
        succeeded, milliseconds = sent.outcome.succeeded, sent.duration_ms
        self._resources.count(self._lease.endpoint_id, succeeded=succeeded, milliseconds=milliseconds)
        self._prefetch.held.discard(due.id)
        if not written:
            # Another dispatcher owns the lane now, so this one stops without another query.
            log.warning("completion_fenced_off", endpoint_id=self._lease.endpoint_id, delivery_id=due.id)
            self.lost = True
            return
        if was_failing and sent.outcome.succeeded:
            await when_available(self._resources.database, lambda conn: lanes.note_success(conn, self._lease))
        if reason is not None:
            log.warning("endpoint_disabled", endpoint_id=self._lease.endpoint_id, reason=reason)
            await when_available(self._resources.database, partial(self._disable, reason))

    def _reason_to_disable(self, sent: Sent, moment: datetime) -> str | None:
        """Why the endpoint must be disabled. Returned once; no attempt starts after that."""
        reason = (
            "gone" if sent.outcome.gone else "failing" if self.breaker.has_failed_too_long(moment) else None
        )
        if reason is None or self.disable_reason is not None:
            return None
        self.disable_reason = reason
        return reason

    async def _disable(self, reason: str, conn: Connection) -> None:
        async with conn.transaction():
            await disable_endpoints(conn, self._lease.studio_id, [self._lease.endpoint_id], reason)
