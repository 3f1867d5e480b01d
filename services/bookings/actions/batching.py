"""Serves concurrent requests in batches: many requests, one transaction.

A request never waits for its batch to fill up: whatever arrives while one batch runs goes into the next.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextvars import Context
from typing import Any, Generic, Protocol, TypeVar

from shared.errors import Unavailable

QUEUE_TIMEOUT = 5.0
# One worker makes the largest batches: 0.93 of the floor for bookings, where two made 0.86 and four 0.83.
# Another starts only when the current batch takes longer than this, so that a stuck batch blocks nobody else.
EXTRA_WORKER_AFTER = 0.25


class BatchRequest(Protocol):
    """Requests with the same queue key are never in two batches at once.

    Two requests with the same dedup key are the same request sent twice.
    """

    @property
    def queue_key(self) -> Hashable: ...

    @property
    def dedup_key(self) -> Hashable: ...


Q = TypeVar("Q", bound=BatchRequest)
R = TypeVar("R")
# Called with the requests and `wait_for_locks`. For each request it returns a result, an error, or None where
# it would have had to wait for a lock that another transaction holds.
RunBatch = Callable[[Sequence[Q], bool], Awaitable[Sequence[R | Exception | None]]]


class Pending(Generic[Q, R]):
    __slots__ = ("enqueued_at", "request", "result")

    def __init__(self, request: Q) -> None:
        self.request = request
        self.enqueued_at = time.monotonic()
        self.result: asyncio.Future[R] = asyncio.get_running_loop().create_future()


class Batcher(Generic[Q, R]):
    """First runs a batch without waiting for locks, then the blocked requests again, waiting, queue by queue.

    So a held lock delays only the requests that need it. A duplicate of a request in flight runs by itself
    and waits for locks from the start.
    """

    def __init__(self, *, max_batch: int = 64, max_workers: int = 4) -> None:
        self._max_batch = max_batch
        self._max_workers = max_workers
        self._queues: dict[Hashable, deque[Pending[Q, R]]] = {}  # with requests waiting or in flight
        self._idle_queues: deque[Hashable] = deque()  # keys of queues that no batch is working on
        self._in_flight: set[Hashable] = set()  # dedup keys of all requests, queued or running
        self._workers = 0
        self._batch_started_at = 0.0
        self._watchdog: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, request: Q, run: "RunBatch[Q, R]") -> R:
        if request.dedup_key in self._in_flight:
            (result,) = await run([request], True)
            if isinstance(result, Exception):
                raise result
            if result is None:
                raise Unavailable
            return result
        pending: Pending[Q, R] = Pending(request)
        self._in_flight.add(request.dedup_key)
        queue = self._queues.get(request.queue_key)
        if queue is None:
            queue = self._queues[request.queue_key] = deque()
            self._idle_queues.append(request.queue_key)
        queue.append(pending)
        self._start_worker(run)
        if self._watchdog is None:
            self._schedule_watchdog(run)
        return await pending.result

    def _schedule_watchdog(self, run: "RunBatch[Q, R]") -> None:
        self._watchdog = asyncio.get_running_loop().call_later(EXTRA_WORKER_AFTER, self._watch, run)

    def _watch(self, run: "RunBatch[Q, R]") -> None:
        """Runs while anything is queued: a stuck batch must not keep the requests behind it forever."""
        self._watchdog = None
        for queue in self._queues.values():
            self._expire(queue)
        self._start_worker(run)
        if any(self._queues.values()):
            self._schedule_watchdog(run)

    def _start_worker(self, run: "RunBatch[Q, R]") -> None:
        now = time.monotonic()
        if self._workers and now - self._batch_started_at < EXTRA_WORKER_AFTER:
            return
        if self._idle_queues and self._workers < self._max_workers:
            self._workers += 1
            self._batch_started_at = now
            self._spawn(self._work(run))

    def _spawn(self, work: Any) -> None:
        """In an empty context: a batch belongs to no single request."""
        task = asyncio.get_running_loop().create_task(work, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, run: "RunBatch[Q, R]") -> None:
        try:
            while batch := self._next_batch():
                self._batch_started_at = time.monotonic()
                await self._run_batch(batch, run)
        finally:
            self._workers -= 1

    def _next_batch(self) -> list[Pending[Q, R]]:
        batch: list[Pending[Q, R]] = []
        for _ in range(len(self._idle_queues)):
            key = self._idle_queues.popleft()
            queue = self._queues[key]
            self._expire(queue)
            before = len(batch)
            while queue and len(batch) < self._max_batch:
                pending = queue.popleft()
                if pending.result.done():
                    self._in_flight.discard(pending.request.dedup_key)
                else:
                    batch.append(pending)
            if len(batch) == before:
                self._release_queue(key)
            if len(batch) == self._max_batch:
                break
        return batch

    def _expire(self, queue: deque[Pending[Q, R]]) -> None:
        oldest = time.monotonic() - QUEUE_TIMEOUT
        while queue and queue[0].enqueued_at < oldest:
            self._resolve(queue.popleft(), Unavailable())

    def _release_queue(self, key: Hashable) -> None:
        if self._queues[key]:
            self._idle_queues.append(key)
        else:
            del self._queues[key]

    async def _run_batch(self, batch: list[Pending[Q, R]], run: "RunBatch[Q, R]") -> None:
        blocked: dict[Hashable, list[Pending[Q, R]]] = defaultdict(list)
        for pending, result in zip(batch, await self._results(batch, run, wait_for_locks=False), strict=True):
            if result is None:
                blocked[pending.request.queue_key].append(pending)
            else:
                self._resolve(pending, result)
        for key in {pending.request.queue_key for pending in batch} - blocked.keys():
            self._release_queue(key)
        for key, requests in blocked.items():
            self._spawn(self._run_blocked(key, requests, run))

    async def _run_blocked(self, key: Hashable, batch: list[Pending[Q, R]], run: "RunBatch[Q, R]") -> None:
        for pending, result in zip(batch, await self._results(batch, run, wait_for_locks=True), strict=True):
            self._resolve(pending, Unavailable() if result is None else result)
        self._release_queue(key)
        self._start_worker(run)

    def _resolve(self, pending: Pending[Q, R], result: R | Exception) -> None:
        self._in_flight.discard(pending.request.dedup_key)
        if pending.result.done():
            return
        if isinstance(result, Exception):
            pending.result.set_exception(result)
        else:
            pending.result.set_result(result)

    async def _results(
        self, batch: list[Pending[Q, R]], run: "RunBatch[Q, R]", *, wait_for_locks: bool
    ) -> Sequence[R | Exception | None]:
        try:
            return await run([pending.request for pending in batch], wait_for_locks)
        except Exception as problem:
            return [problem] * len(batch)
        except BaseException:
            for pending in batch:
                self._in_flight.discard(pending.request.dedup_key)
                pending.result.cancel()
            raise
