"""One endpoint's lane while this process holds its lease: load, send, load again, release."""

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

import structlog

from services.webhooks.dispatcher.in_flight import InFlight, Prefetch, when_available
from services.webhooks.rules.freshness import Freshness
from services.webhooks.rules.retry import Breaker
from services.webhooks.store import attempts
from services.webhooks.store.attempts import Claimed, Due, Target, Wanted
from services.webhooks.store.lanes import Lease, Release
from shared.wire import now

if TYPE_CHECKING:
    from services.webhooks.dispatcher.dispatcher import Dispatcher

log = structlog.get_logger("dispatcher")

# How long the loaded endpoint settings may be used. Nothing is sent with older ones, even without a wake-up.
TARGET_TTL = 1.0
# Before a lane that could not be released is loaded again: somebody has it locked.
LOCKED_PAUSE = 0.02


class Lane:
    def __init__(
        self, resources: "Dispatcher", lease: Lease, breaker: Breaker, claimed: Claimed | None = None
    ) -> None:
        self.resources = resources
        self.lease = lease
        self._claimed = claimed
        self._prefetch = Prefetch()
        self._in_flight = InFlight(resources, lease, breaker, self._prefetch)
        self._target: Target | None = None
        self._keys: list[bytes] = []
        self._refreshed_at = self._last_started_at = float("-inf")
        self._changed = asyncio.Event()
        self.fresh = Freshness()

    @property
    def seen(self) -> tuple[int, int] | None:
        """The `wakes` and `changes` of the last load. None before the first one, which needs no wake-up."""
        return (self._target.wakes, self._target.changes) if self._target else None

    def wake(self, *, changed: bool) -> None:
        """There is new work. `changed`: what was prefetched is stale, the endpoint or the bodies changed."""
        self._prefetch.exhausted = False
        if changed:
            self._drop_loaded()
            self._changed.set()
        self._in_flight.progress.set()

    def _drop_loaded(self) -> None:
        """What is ready is loaded again, and so is what is in flight but not sent yet."""
        self._prefetch.drop_ready()
        self.fresh.end()
        self.fresh = Freshness()

    async def run(self) -> None:
        """Run until nothing is due, the breaker opens, the endpoint is disabled or the lease is lost."""
        try:
            while not self._in_flight.lost and not await self._released() and await self._load():
                await self._send_ready()
        finally:
            await self._in_flight.cancel()

    async def _released(self) -> bool:
        """Releases the lane if nothing can be sent now. What is due later, or came meanwhile, is in SQL."""
        if self._target is None:
            return False
        # The same moment twice: a lane that is paused is released for as long as the pause lasts.
        moment = now()
        halted = not self._target.enabled or self._in_flight.breaker.is_paused(moment)
        if halted:
            self._prefetch.drop_ready()
        elif not self._prefetch.exhausted:
            return False
        if self._prefetch.held:
            return False
        # The next lease does not know when this one sent last.
        if not halted and not await self._pace():
            return False
        seen = self._target
        release = Release(self.lease, seen.wakes, seen.enabled, self._in_flight.breaker, moment)
        due_at_once = await self.resources.releases.submit(release)
        if due_at_once is None:
            await asyncio.sleep(LOCKED_PAUSE)
        elif due_at_once:
            self.resources.wakeup.notify()
        return due_at_once is not None

    async def _load(self) -> bool:
        """Load the target and what is due. False if the lease is lost."""
        if not self._prefetch.held:
            await self._pace()
        self._changed.clear()
        self._prefetch.exhausted = False
        if not self._in_flight:
            self._in_flight.disable_reason = None
        self._fit()
        limit = self._prefetch.size if self._prefetch.is_half_empty else 0
        seen = self._target
        claimed, self._claimed = self._claimed, None
        if claimed is not None:
            refreshed_at, loaded = claimed.at, claimed.first
        else:
            refreshed_at = time.monotonic()
            wanted = Wanted(self.lease, frozenset(self._prefetch.held), limit)
            found_now = await self.resources.loads.submit(wanted)
            if found_now is None:
                return False
            loaded = found_now
        target, found = loaded.target, loaded.due
        self._use_target(target, refreshed_at)
        if target.fifo and target.enabled and not self._prefetch.held:
            found = await self._in_order()
            # What follows a retry was not loaded.
            self._prefetch.exhausted = len(found) < self._prefetch.size and all(not due.step for due in found)
        elif limit and not target.fifo:
            # What a change has made stale was left out of the load.
            unchanged = seen is None or target.changes == seen.changes
            self._prefetch.exhausted = unchanged and len(found) < min(limit, self._prefetch.size) // 2
        self._prefetch.take(found)
        return True

    async def _in_order(self) -> list[Due]:
        return await when_available(
            self.resources.database,
            lambda conn: attempts.in_order(conn, self.lease.endpoint_id, self._prefetch.size),
        )

    def _use_target(self, target: Target, refreshed_at: float) -> None:
        if self._target is not None and target.changes != self._target.changes:
            self._drop_loaded()
            log.debug("endpoint_change_applied", endpoint_id=self.lease.endpoint_id, changes=target.changes)
        self._target = target
        self.fresh.confirm(refreshed_at)
        self._in_flight.fifo = target.fifo
        self._fit()
        self._refreshed_at = refreshed_at
        self._keys = [self.resources.cipher.signing_key(sealed) for sealed in target.sealed]

    def _fit(self) -> None:
        rate_limit = self._target.rate_limit if self._target else None
        failing = self._in_flight.breaker.failures > 0
        self._prefetch.fit(rate_limit, fifo=self._in_flight.fifo, failing=failing)

    async def _send_ready(self) -> None:
        """Keep the window full. Return when the prefetch is low, too old or stale."""
        assert self._target is not None
        while not self._in_flight.is_halted(now()):
            if self._changed.is_set():
                return
            if self._prefetch.ready and self._in_flight.has_room:
                if time.monotonic() - self._refreshed_at > TARGET_TTL:
                    return
                if await self._pace():
                    self._last_started_at = time.monotonic()
                    self._in_flight.begin(
                        self._prefetch.ready.popleft(), self._target.url, self._keys, self.fresh
                    )
                continue
            # Nothing more is known to be due: wait for an attempt to end, or for a wake-up.
            if not self._in_flight:
                return
            self._in_flight.progress.clear()
            await self._in_flight.progress.wait()
            if self._prefetch.is_low:
                return
        await self._in_flight.wait_for_all()

    async def _pace(self) -> bool:
        """True when the rate limit allows an attempt now. Else wait until it does, or until a change."""
        rate = self._target.rate_limit if self._target else None
        wait = self._last_started_at + 1.0 / rate - time.monotonic() if rate else 0.0
        if wait <= 0:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._changed.wait()
        return False
