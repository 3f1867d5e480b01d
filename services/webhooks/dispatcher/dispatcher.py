"""Claims lanes and runs them. Several dispatchers can run at once; each lane has one owner at a time."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import TypeVar

import structlog

from services.webhooks.dispatcher.in_flight import when_available
from services.webhooks.dispatcher.lane import Lane
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.retry import Breaker
from services.webhooks.rules.signing import SecretCipher
from services.webhooks.store import attempts, health, lanes
from services.webhooks.store.attempts import Claimed
from services.webhooks.store.lanes import Lease
from shared.background import Wakeup, end_tasks
from shared.batching import Batcher
from shared.db.database import Connection, Database
from shared.percentiles import bucket_of
from shared.wire import new_id

log = structlog.get_logger("dispatcher")

Q = TypeVar("Q")
R = TypeVar("R")

# How a dispatcher is shared between studios: the backlog of one must not delay the events of another.
# Attempts in flight of all lanes of a studio together, as long as each lane may have the minimum.
STUDIO_WINDOW = 256
MIN_LANE_WINDOW = 2
# Out of the lanes that one process runs at once, and never more than are free: a few studios whose endpoints
# all hang leave as much room as each of them takes.
MAX_LANES_PER_STUDIO = 250
# A lane starts with a window of two attempts, so a process can afford many lanes.
MAX_LANES = 1300
CLAIM_BATCH = 200
# With so many free again, or a studio down to half of its share, lanes are claimed before the next poll.
CLAIM_AGAIN = CLAIM_BATCH // 2
# A look at all lanes costs more the more there are, and a flood of events asks for one at each of them. Lanes
# with nothing to do do not depend on it: the event log starts them.
SECONDS_PER_LANE = 0.0005
LONGEST_SPACING = 0.05
STOP_GRACE_SECONDS = 2.0


class Dispatcher:
    """`step` claims due lanes and `renew` extends the leases. Both are run by background loops."""

    def __init__(
        self,
        database: Database,
        sender: Sender,
        cipher: SecretCipher,
        schedule: Sequence[float],
        *,
        max_lanes: int = MAX_LANES,
        wakeup: Wakeup | None = None,
    ) -> None:
        self.database = database
        self.sender = sender
        self.cipher = cipher
        self.schedule = tuple(schedule)
        self.max_lanes = max_lanes
        self.wakeup = wakeup or Wakeup()
        # Two at once, so that one slow statement does not hold up every lane.
        self.loads = self._batched(attempts.load, max_batch=100, max_running=2)
        self.releases = self._batched(lanes.release, max_batch=100, max_running=2)
        self.completions = self._batched(attempts.complete, max_batch=256, max_running=1)
        self._running: dict[asyncio.Task[None], Lane] = {}
        self._attempts: health.Counts = {}
        self._lanes_of_studio: Counter[str] = Counter()
        # The studios that the last claim passed over.
        self._at_limit: set[str] = set()
        self._stopping = False
        self._next_step_at = 0.0
        # What the event log claimed while this process was being stopped.
        self._not_started: list[Lease] = []

    def _batched(
        self,
        statement: Callable[[Connection, Sequence[Q]], Awaitable[Sequence[R]]],
        *,
        max_batch: int,
        max_running: int,
    ) -> Batcher[Q, R]:
        """What many lanes read and write at the same time goes into one statement."""

        async def run(requests: Sequence[Q]) -> Sequence[R]:
            return await when_available(self.database, lambda conn: statement(conn, requests))

        return Batcher(run, max_batch=max_batch, max_running=max_running)

    @property
    def lanes_running(self) -> int:
        return len(self._running)

    async def step(self) -> bool:
        """True when there may be more lanes to claim."""
        if (early := self._next_step_at - time.monotonic()) > 0:
            await asyncio.sleep(early)
        # A batch may be of one studio.
        room = min(CLAIM_BATCH, (self._free + 1) // 2)
        share = self._share
        self._at_limit = {id_ for id_, count in self._lanes_of_studio.items() if count >= share}
        async with self.database.connection() as conn:
            claimed = await lanes.claim(conn, new_id(), room, sorted(self._at_limit))
            for lease, breaker in claimed:
                self._start(Lane(self, lease, breaker))
            await self._wake_lanes(conn)
        if len(claimed) == room > 0:
            return True
        self._next_step_at = time.monotonic() + min(SECONDS_PER_LANE * self.lanes_running, LONGEST_SPACING)
        return False

    def has_room(self, studio_ids: Sequence[str]) -> bool:
        """Whether the event log may claim lanes: one of each of these studios, which may be the same."""
        if self._stopping or len(studio_ids) > min(CLAIM_AGAIN, self._free // 2):
            return False
        wanted = Counter(studio_ids)
        return all(self._lanes_of_studio[id_] + count <= self._share for id_, count in wanted.items())

    def start(self, claimed: Sequence[Claimed]) -> None:
        """What the event log has claimed: these lanes are healthy and have just been loaded."""
        if self._stopping:
            self._not_started += [one.lease for one in claimed]
            return
        for one in claimed:
            self._start(Lane(self, one.lease, Breaker(), one))

    def _start(self, lane: Lane) -> None:
        task = asyncio.create_task(self._run(lane), name=f"lane:{lane.lease.endpoint_id}", context=Context())
        self._running[task] = lane
        self._lanes_of_studio[lane.lease.studio_id] += 1
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        studio_id = self._running.pop(task).lease.studio_id
        self._lanes_of_studio[studio_id] -= 1
        has_room = studio_id in self._at_limit and 2 * self._lanes_of_studio[studio_id] <= self._share
        if has_room or self._free == CLAIM_AGAIN:
            self._at_limit.discard(studio_id)
            self.wakeup.notify()
        if not self._lanes_of_studio[studio_id]:
            del self._lanes_of_studio[studio_id]

    @property
    def _free(self) -> int:
        return max(0, self.max_lanes - len(self._running))

    @property
    def _share(self) -> int:
        return min(MAX_LANES_PER_STUDIO, self._free)

    def window_of(self, studio_id: str) -> int:
        """How many attempts a lane of the studio may have in flight.

        It depends only on the number of lanes, not on what the others do: a slow endpoint takes nothing from
        the other endpoints of its studio. The circuit breaker may allow less.
        """
        return max(MIN_LANE_WINDOW, STUDIO_WINDOW // max(1, self._lanes_of_studio[studio_id]))

    async def _wake_lanes(self, conn: Connection) -> None:
        by_id = {lane.lease.endpoint_id: lane for lane in self._running.values()}
        seen = {id_: lane.seen for id_, lane in by_id.items() if lane.seen is not None}
        if not seen:
            return
        loaded = {id_: by_id[id_].fresh for id_ in seen}
        queried_at = time.monotonic()
        woken = await lanes.woken(conn, seen)
        for endpoint_id, fresh in loaded.items():
            if not woken.get(endpoint_id, False):
                fresh.confirm(queried_at)
        for endpoint_id, changed in woken.items():
            by_id[endpoint_id].wake(changed=changed)

    async def _run(self, lane: Lane) -> None:
        """A lane that fails because of a bug is retried when its lease expires."""
        try:
            await lane.run()
        except Exception:
            log.error("lane_failed", endpoint_id=lane.lease.endpoint_id, exc_info=True)

    def count(self, endpoint_id: str, *, succeeded: bool, milliseconds: float) -> None:
        key = endpoint_id, int(time.time()) // 3600 * 3600, bucket_of(milliseconds)
        self._attempts.setdefault(key, [0, 0])[not succeeded] += 1

    async def renew(self) -> bool:
        """Also adds the attempts that were counted. Counts that cannot be written are lost."""
        counts, self._attempts = self._attempts, {}
        if counts:
            async with self.database.connection() as conn:
                await health.add(conn, counts)
        leases = [lane.lease for lane in self._running.values()]
        if leases:
            async with self.database.connection() as conn:
                await lanes.renew(conn, leases)
        return False

    async def stop(self) -> None:
        """Give attempts in flight a moment to finish. The next owner of the lane sends the rest again."""
        self._stopping = True
        running = dict(self._running)
        if running:
            await asyncio.wait(running, timeout=STOP_GRACE_SECONDS)
        await end_tasks(running)
        for batcher in (self.loads, self.releases, self.completions):
            await batcher.close()
        leases = [lane.lease for task, lane in running.items() if task.cancelled()] + self._not_started
        if leases:
            try:
                async with self.database.connection() as conn:
                    await lanes.give_back(conn, leases)
            except Exception as problem:
                log.warning("leases_left_to_expire", lanes=len(leases), error=type(problem).__name__)
