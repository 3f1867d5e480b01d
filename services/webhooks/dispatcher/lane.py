"""One endpoint's lane while this process holds its lease: load, send, load again, release."""

import asyncio
import contextlib
import time
from datetime import datetime

import structlog

from services.webhooks.dispatcher.completion import LONGEST_PAUSE
from services.webhooks.dispatcher.in_flight import InFlight, LaneResources
from services.webhooks.dispatcher.prefetch import Prefetch
from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.rules.days import Span
from services.webhooks.rules.freshness import Freshness
from services.webhooks.store import attempts
from services.webhooks.store.attempts import Due
from services.webhooks.store.lane_batches import Release, Target, Wanted
from services.webhooks.store.lanes import Lease
from shared.background import Backoff
from shared.db.unavailable import is_unavailable
from shared.wire import now

log = structlog.get_logger("dispatcher")

# How long the loaded endpoint settings may be used. Nothing is sent with older ones, even without a wake-up.
TARGET_TTL = 1.0
# Before a lane that was empty twice, but could not be released, is refilled again: somebody has it locked.
LOCKED_PAUSE = 0.02


class Lane:
    def __init__(self, resources: LaneResources, lease: Lease, breaker: Breaker) -> None:
        self.resources = resources
        self.lease = lease
        self._prefetch = Prefetch()
        self._in_flight = InFlight(resources, lease, breaker, self._prefetch)
        self._target: Target | None = None
        self._keys: list[bytes] = []
        self._refreshed_at = self._last_started_at = float("-inf")
        self._new_work = False
        self._changed = asyncio.Event()
        self.fresh = Freshness()

    @property
    def seen(self) -> tuple[int, int] | None:
        """The `wakes` and `changes` of the last refill. None before the first one, which needs no wake-up."""
        return (self._target.wakes, self._target.changes) if self._target else None

    def wake(self, *, changed: bool) -> None:
        """There is new work. `changed`: what was prefetched is stale, the endpoint or the bodies changed."""
        self._new_work = True
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
        backoff = Backoff(longest=LONGEST_PAUSE)
        refills_in_vain = 0
        try:
            while not self._in_flight.lost:
                try:
                    if not self._prefetch.held:
                        await self._pace()
                    if await self._refill():
                        return
                except Exception as problem:
                    if not is_unavailable(problem):
                        raise
                    await backoff.pause()
                    continue
                backoff.reset()
                refills_in_vain = 0 if self._prefetch.held else refills_in_vain + 1
                if refills_in_vain > 1:
                    await asyncio.sleep(LOCKED_PAUSE)
                await self._send_ready()
        finally:
            await self._in_flight.cancel()

    async def _refill(self) -> bool:
        """Load what is due. True when the lane was released or lost."""
        # All that was due is done. `release` compares `wakes`, so it notices new work without another
        # query. That matters when many endpoints have one delivery each.
        if self._target and self._prefetch.exhausted and not self._prefetch.held and not self._new_work:
            if await self._release(self._target, now(), drained=True):
                return True
            self._prefetch.exhausted = False
        self._new_work = False
        self._changed.clear()
        if not self._in_flight:
            self._in_flight.disable_reason = None
        refreshed_at = time.monotonic()
        # The release uses the same moment: a lane that was paused for the load is due when the pause ends.
        moment = now()
        paused = self._in_flight.breaker.is_paused(moment)
        limit = 0 if paused or not self._prefetch.is_half_empty else self._prefetch.size
        open_span = self._target.open_span if self._target else self.lease.open_span
        wanted = Wanted(self.lease, frozenset(self._prefetch.held), limit, open_span)
        loaded = await self.resources.loads.ask(wanted)
        if loaded is None:
            return True
        target, seen = loaded.target, self._target
        self._use_target(target, refreshed_at)
        # Whether all that is due is held now. What a change has made stale was left out of the load.
        complete = False
        if not target.enabled or paused:
            self._prefetch.drop_ready()
        elif target.fifo and not self._prefetch.held:
            # Until this query has succeeded: it is not of the snapshot that `wakes` is from.
            self._prefetch.exhausted = False
            found = await self._in_order(target.open_span)
            # What follows a retry was not loaded.
            found_all = len(found) < self._prefetch.size and all(due.step == 0 for due in found)
            self._prefetch.exhausted = found_all
            self._prefetch.take(found)
            complete = True
        elif limit and not target.fifo:
            complete = seen is None or target.changes == seen.changes
            found_all = len(loaded.due) < min(limit, self._prefetch.size) // 2
            self._prefetch.exhausted = complete and found_all
            self._prefetch.take(loaded.due)
        elif seen is None or target.wakes != seen.wakes:
            # Nothing was loaded, and `wakes` counts deliveries that were not seen yet.
            self._prefetch.exhausted = False
        if self._prefetch.held:
            return False
        if complete or not target.enabled or self._in_flight.breaker.is_paused(moment):
            return await self._release(target, moment, drained=complete)
        return False

    async def _release(self, seen: Target, moment: datetime, *, drained: bool) -> bool:
        release = Release(self.lease, seen, self._in_flight.breaker, moment, drained)
        return await self.resources.releases.ask(release)

    async def _in_order(self, span: Span) -> list[Due]:
        async with self.resources.database.connection() as conn:
            return await attempts.in_order(conn, self.resources.days, self.lease, span, self._prefetch.size)

    def _use_target(self, target: Target, refreshed_at: float) -> None:
        if self._target is not None and target.changes != self._target.changes:
            self._drop_loaded()
            log.debug("endpoint_change_applied", endpoint_id=self.lease.endpoint_id, changes=target.changes)
        self._target = target
        self.fresh.confirm(refreshed_at)
        self._prefetch.fit(target.rate_limit, fifo=target.fifo)
        self._in_flight.fifo = target.fifo
        self._refreshed_at = refreshed_at
        self._keys = [self.resources.cipher.signing_key(sealed) for sealed in target.sealed]

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
            if not self._in_flight or (self._new_work and self._prefetch.is_drained):
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
