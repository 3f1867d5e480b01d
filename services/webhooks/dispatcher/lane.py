"""One endpoint's lane while this process holds its lease: look, send, look again, let go."""

import asyncio
import contextlib
import time

import structlog

from services.webhooks.dispatcher.hand import Hand
from services.webhooks.dispatcher.under_way import Tools, UnderWay
from services.webhooks.rules.breaker import Breaker
from services.webhooks.store import attempts, lanes
from services.webhooks.store.lanes import Lease, Target
from shared.background import Backoff
from shared.db.unavailable import is_unavailable
from shared.wire import now

log = structlog.get_logger("dispatcher")

# How long a look at the endpoint is good for, even if no nudge comes: nothing is sent on an older one.
LOOK_LASTS = 1.0


class Lane:
    def __init__(self, tools: Tools, lease: Lease, breaker: Breaker) -> None:
        self.tools = tools
        self.lease = lease
        self._hand = Hand()
        self._under_way = UnderWay(tools, lease, breaker, self._hand)
        self._target: Target | None = None
        self._keys: list[bytes] = []
        self._looked_at = self._began_at = float("-inf")
        self._news = False
        self._changed = asyncio.Event()

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
        self._under_way.stirred.set()

    async def run(self) -> None:
        """Until there is nothing to do, the breaker opens, the endpoint is disabled or the lease is lost."""
        backoff = Backoff()
        try:
            while not self._under_way.lost:
                try:
                    if not self._hand.held:
                        await self._pace()
                    if await self._look():
                        return
                except Exception as problem:
                    if not is_unavailable(problem):
                        raise
                    await backoff.pause()
                    continue
                backoff.reset()
                await self._send_some()
        finally:
            await self._under_way.cancel()

    async def _look(self) -> bool:
        """Fill the hand; True when the lane was let go or lost."""
        async with self.tools.database.connection() as conn:
            # All that was due is done, and `wakes` tells the release whether more has come since: without
            # another look, which matters where many endpoints have one delivery each.
            if self._target and self._hand.exhausted and not self._hand.held and not self._news:
                if await lanes.release(conn, self.lease, self._target, self._under_way.breaker, now()):
                    return True
                self._hand.exhausted = False
            self._news = False
            self._changed.clear()
            if not self._under_way:
                self._under_way.ending = None
            looked_at = time.monotonic()
            target = await lanes.target(conn, self.lease)
            if target is None:
                return True
            self._turn_to(target, looked_at)
            if not target.enabled or self._under_way.breaker.is_paused(now()):
                self._hand.drop_ready()
            elif target.fifo:
                self._hand.take(await attempts.head(conn, self.lease) if not self._hand.held else [])
            elif self._hand.is_half_empty:
                found = await attempts.due(conn, self.lease, self._hand.held, self._hand.size)
                self._hand.exhausted = len(found) < self._hand.size // 2
                self._hand.take(found)
            if self._hand.held:
                return False
            return await lanes.release(conn, self.lease, target, self._under_way.breaker, now())

    def _turn_to(self, target: Target, looked_at: float) -> None:
        if self._target is not None and target.changes != self._target.changes:
            self._hand.drop_ready()
            log.debug("change_taken_up", endpoint_id=self.lease.endpoint_id, changes=target.changes)
        self._target = target
        self._hand.suit(target.rate_limit)
        self._looked_at = looked_at
        self._keys = [self.tools.vault.signing_key(sealed) for sealed in target.sealed]

    async def _send_some(self) -> None:
        """Keep the window full; back to looking when the hand runs low, grew old or went stale."""
        assert self._target is not None
        while not self._under_way.is_halted(now()):
            if self._changed.is_set():
                return
            if self._hand.ready and self._under_way.has_room:
                if time.monotonic() - self._looked_at > LOOK_LASTS:
                    return
                if await self._pace():
                    self._began_at = time.monotonic()
                    self._under_way.begin(self._hand.ready.popleft(), self._target.url, self._keys)
                continue
            # With nothing more known to be due, wait for the last one to end, or for news.
            if not self._under_way or (self._news and self._hand.waits_for_news):
                return
            self._under_way.stirred.clear()
            await self._under_way.stirred.wait()
            if self._hand.runs_low:
                return
        await self._under_way.wait_for_all()

    async def _pace(self) -> bool:
        """True when the rate limit allows one now; else waits until it does, or until something changed."""
        rate = self._target.rate_limit if self._target else None
        wait = self._began_at + 1.0 / rate - time.monotonic() if rate else 0.0
        if wait <= 0:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._changed.wait()
        return False
