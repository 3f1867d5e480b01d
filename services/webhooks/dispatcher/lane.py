"""One endpoint's lane while this process holds its lease: look, send, record, look again, let go."""

import asyncio
import contextlib
import time
from datetime import datetime
from typing import Protocol

import structlog

from services.webhooks.dispatcher.attempt import completed, headers_for
from services.webhooks.dispatcher.completion import Completer
from services.webhooks.dispatcher.hand import Hand
from services.webhooks.dispatcher.sending import Sender, Sent
from services.webhooks.rules import breaker as breaking
from services.webhooks.rules.breaker import Breaker
from services.webhooks.store import attempts, endpoints, lanes
from services.webhooks.store.attempts import Due
from services.webhooks.store.lanes import Lease, Target
from services.webhooks.telling import tell_attempt
from services.webhooks.vault import Vault
from shared.bus.handling import Pauses, is_away
from shared.database import Database
from shared.wire import now

log = structlog.get_logger("dispatcher")

# How long a look at the endpoint is good for, even if no nudge comes: nothing is sent on an older one.
LOOK_LASTS = 1.0


class Tools(Protocol):
    """What every lane of a dispatcher shares."""

    database: Database
    sender: Sender
    completer: Completer
    vault: Vault
    schedule: tuple[float, ...]


class Lane:
    def __init__(self, tools: Tools, lease: Lease, breaker: Breaker) -> None:
        self.tools = tools
        self.lease = lease
        self.breaker = breaker
        self._hand = Hand()
        self._sending: set[asyncio.Task[None]] = set()
        self._target: Target | None = None
        self._keys: list[bytes] = []
        self._looked_at = self._started_at = float("-inf")
        self._lost = False
        self._ending: str | None = None
        self._news = False
        self._changed = asyncio.Event()
        self._stirred = asyncio.Event()

    @property
    def seen(self) -> tuple[int, int] | None:
        """The wakes and changes that the last look saw; None before the first, which needs no nudge."""
        return (self._target.wakes, self._target.changes) if self._target else None

    def nudge(self, *, changed: bool) -> None:
        """New work has come, or (`changed`) what is in hand is stale: the endpoint or the bodies changed."""
        self._news = True
        if changed:
            self._hand.drop_ready()
            self._changed.set()
        self._stirred.set()

    async def run(self) -> None:
        """Until there is nothing to do, the breaker opens, the endpoint is disabled or the lease is lost."""
        pauses = Pauses()
        try:
            while not self._lost:
                try:
                    if not self._hand.held:
                        await self._pace()
                    if await self._look():
                        return
                except Exception as problem:
                    if not is_away(problem):
                        raise
                    await pauses.pause()
                    continue
                pauses.reset()
                await self._send_some()
        finally:
            for task in self._sending:
                task.cancel()
            await asyncio.gather(*self._sending, return_exceptions=True)

    async def _look(self) -> bool:
        """Fill the hand; True when the lane was let go or lost."""
        async with self.tools.database.connection() as conn:
            # All that was due is done, and `wakes` tells the release whether more has come since: without
            # another look, which matters where many endpoints have one delivery each.
            if self._target and self._hand.exhausted and not self._hand.held and not self._news:
                if await lanes.release(conn, self.lease, self._target, self.breaker, now()):
                    return True
                self._hand.exhausted = False
            self._news = False
            self._changed.clear()
            if not self._sending:
                self._ending = None
            looked_at = time.monotonic()
            target = await lanes.target(conn, self.lease)
            if target is None:
                return True
            self._turn_to(target, looked_at)
            if not target.enabled or self.breaker.is_paused(now()):
                self._hand.drop_ready()
            elif target.fifo:
                self._hand.take(await attempts.head(conn, self.lease) if not self._hand.held else [])
            elif self._hand.is_half_empty:
                found = await attempts.due(conn, self.lease, self._hand.held, self._hand.size)
                self._hand.exhausted = len(found) < self._hand.size // 2
                self._hand.take(found)
            if self._hand.held:
                return False
            return await lanes.release(conn, self.lease, target, self.breaker, now())

    def _turn_to(self, target: Target, looked_at: float) -> None:
        if self._target is not None and target.changes != self._target.changes:
            self._hand.drop_ready()
        self._target = target
        self._hand.suit(target.rate_limit)
        self._looked_at = looked_at
        self._keys = [self.tools.vault.signing_key(sealed) for sealed in target.sealed]

    async def _send_some(self) -> None:
        """Keep the window full; back to looking when the hand runs low, grew old or went stale."""
        while not (self._lost or self._ending or self.breaker.is_paused(now())):
            if self._changed.is_set():
                return
            if self._hand.ready and len(self._sending) < self.breaker.window:
                if time.monotonic() - self._looked_at > LOOK_LASTS:
                    return
                if await self._pace():
                    self._start(self._hand.ready.popleft())
                continue
            # With nothing more known to be due, wait for the last one to end, or for news.
            if not self._sending or (self._news and self._hand.waits_for_news):
                return
            self._stirred.clear()
            await self._stirred.wait()
            if self._hand.runs_low:
                return
        if self._sending:
            await asyncio.wait(self._sending)

    def _start(self, due: Due) -> None:
        self._started_at = time.monotonic()
        task = asyncio.create_task(self._deliver(due))
        self._sending.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._stirred.set()

    async def _pace(self) -> bool:
        """True when the rate limit allows one now; else waits until it does, or until something changed."""
        rate = self._target.rate_limit if self._target else None
        wait = self._started_at + 1.0 / rate - time.monotonic() if rate else 0.0
        if wait <= 0:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._changed.wait()
        return False

    async def _deliver(self, due: Due) -> None:
        assert self._target is not None
        headers = headers_for(due, self._keys, int(time.time()))
        sent = await self.tools.sender.post(self._target.url, headers, due.body)
        try:
            await self._record(due, sent)
        except Exception:
            log.error("recording_failed", endpoint_id=self.lease.endpoint_id, exc_info=True)
            self._lost = True

    async def _record(self, due: Due, sent: Sent) -> None:
        moment = now()
        schedule = self.tools.schedule
        was_failing = self.breaker.failing_since is not None
        self.breaker = breaking.after(self.breaker, sent.outcome, schedule, moment)
        reason = self._reason_to_end(sent, moment)
        done = completed(self.lease, due, sent, schedule, moment)
        written = await self.tools.completer.record(done)
        tell_attempt(due, sent, done)
        self._hand.held.discard(due.id)
        if not written:
            # Somebody else owns the lane now. It is left alone, not looked at again.
            log.warning("completion_fenced_off", endpoint_id=self.lease.endpoint_id, delivery_id=due.id)
            self._lost = True
            return
        if was_failing and sent.outcome.succeeded:
            async with self.tools.database.connection() as conn:
                await lanes.note_success(conn, self.lease)
        if reason is not None:
            await self._disable(reason)

    def _reason_to_end(self, sent: Sent, moment: datetime) -> str | None:
        """Why the endpoint is to be disabled, told once: from here on nothing more is begun."""
        reason = "gone" if sent.outcome.gone else "failing" if self.breaker.is_hopeless(moment) else None
        if reason is None or self._ending is not None:
            return None
        self._ending = reason
        return reason

    async def _disable(self, reason: str) -> None:
        log.warning("endpoint_disabled", endpoint_id=self.lease.endpoint_id, reason=reason)
        async with self.tools.database.connection() as conn:
            await endpoints.disable(conn, self.lease.studio_id, [self.lease.endpoint_id], reason)
