"""One endpoint's lane while this process holds its lease: look, send, record, look again, let go."""

import asyncio
import time
from collections import deque
from typing import Protocol

import structlog

from services.webhooks.dispatcher.attempt import completed, headers_for
from services.webhooks.dispatcher.completion import Completer
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

# How many deliveries a lane keeps in hand: enough to be busy, few enough that memory is flat.
IN_HAND = 64


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
        self._ready: deque[Due] = deque()
        self._held: set[str] = set()
        self._sending: set[asyncio.Task[None]] = set()
        self._target: Target | None = None
        self._keys: list[bytes] = []
        self._not_before = 0.0
        self._lost = False
        self._exhausted = False
        self._nudged = asyncio.Event()

    @property
    def seen_wakes(self) -> int:
        return self._target.wakes if self._target else -1

    def nudge(self) -> None:
        """New work has come while old work is still under way."""
        self._nudged.set()

    async def run(self) -> None:
        """Until there is nothing to do, the breaker opens, the endpoint is disabled or the lease is lost."""
        pauses = Pauses()
        try:
            while not self._lost:
                try:
                    if not self._held:
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
            if self._target and self._exhausted and not self._held and not self._nudged.is_set():
                if await lanes.release(conn, self.lease, self._target, self.breaker, now()):
                    return True
                self._exhausted = False
            target = await lanes.target(conn, self.lease)
            if target is None:
                return True
            self._target = target
            self._nudged.clear()
            self._keys = [self.tools.vault.signing_key(sealed) for sealed in target.sealed]
            stopping = not target.enabled or self.breaker.is_paused(now())
            if stopping:
                # Nothing was attempted of these: they go back as they were.
                self._drop_ready()
            elif target.fifo:
                self._take(await attempts.head(conn, self.lease) if not self._held else [])
            elif len(self._ready) < IN_HAND // 2:
                found = await attempts.due(conn, self.lease, self._held, IN_HAND)
                self._exhausted = len(found) < IN_HAND // 2
                self._take(found)
            if self._held:
                return False
            return await lanes.release(conn, self.lease, target, self.breaker, now())

    def _take(self, found: list[Due]) -> None:
        self._ready.extend(found)
        self._held.update(due.id for due in found)

    def _drop_ready(self) -> None:
        self._held.difference_update(due.id for due in self._ready)
        self._ready.clear()

    async def _send_some(self) -> None:
        """Keep the window full; back to looking when the hand runs low or everything under way is done."""
        while not self._lost and not self.breaker.is_paused(now()):
            while self._ready and len(self._sending) < self.breaker.window:
                await self._pace()
                self._start(self._ready.popleft())
            if not self._sending:
                return
            if self._exhausted and not self._ready:
                # Nothing more is known to be due: wait for the last one to end, or for news.
                await self._until_done_or_nudged()
                return
            await asyncio.wait(self._sending, return_when=asyncio.FIRST_COMPLETED)
            if not self._exhausted and len(self._ready) < IN_HAND // 4:
                return
        if self._sending:
            await asyncio.wait(self._sending)

    async def _until_done_or_nudged(self) -> None:
        news = asyncio.create_task(self._nudged.wait())
        everything = asyncio.gather(*self._sending, return_exceptions=True)
        try:
            await asyncio.wait((news, everything), return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    def _start(self, due: Due) -> None:
        rate = self._target.rate_limit if self._target else None
        if rate:
            self._not_before = time.monotonic() + 1.0 / rate
        task = asyncio.create_task(self._deliver(due))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _pace(self) -> None:
        """For an endpoint with a rate limit: not sooner than it allows."""
        wait = self._not_before - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)

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
        done = completed(self.lease, due, sent, schedule, moment)
        written = await self.tools.completer.record(done)
        tell_attempt(due, sent, done)
        self._held.discard(due.id)
        if not written:
            # Somebody else owns the lane now. It is left alone, not looked at again.
            log.warning("completion_fenced_off", endpoint_id=self.lease.endpoint_id, delivery_id=due.id)
            self._lost = True
            return
        if was_failing and sent.outcome.succeeded:
            async with self.tools.database.connection() as conn:
                await lanes.note_success(conn, self.lease)
        reason = "gone" if sent.outcome.gone else "failing" if self.breaker.is_hopeless(moment) else None
        if reason is not None:
            await self._disable(reason)

    async def _disable(self, reason: str) -> None:
        log.warning("endpoint_disabled", endpoint_id=self.lease.endpoint_id, reason=reason)
        async with self.tools.database.connection() as conn:
            await endpoints.disable(conn, self.lease.studio_id, [self.lease.endpoint_id], reason)
