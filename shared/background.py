"""Background loops that survive a failed step, back off, and report to readiness when they are stuck."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import structlog

from shared.observability.metrics import EVENT_LOOP_LAG, LOOP_AGE

log = structlog.get_logger("loops")

Step = Callable[[], Awaitable[bool]]
CANCEL_AGAIN_SECONDS: Final = 0.5
LAG_SECONDS: Final = 0.1


class Wakeup:
    """Wakes a loop before its next poll is due, for example after a commit that wrote events."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.notified = 0

    def notify(self) -> None:
        """There is new work, which others may have to know of."""
        self.notified += 1
        self._event.set()

    def wake(self) -> None:
        self._event.set()

    async def wait(self, timeout: float) -> bool:
        """True when it was notified, False when the time ran out."""
        try:
            async with asyncio.timeout(timeout):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


async def measure_lag() -> None:
    """How late a timer is tells how long whatever else is ready has to wait."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LAG_SECONDS
        await asyncio.sleep(LAG_SECONDS)
        EVENT_LOOP_LAG.observe(max(0.0, loop.time() - due))


class Backoff:
    """Backoff between retries, doubling up to a bound."""

    def __init__(self, first: float = 0.1, longest: float = 5.0) -> None:
        self.first = first
        self.longest = longest
        self._next = first

    async def pause(self) -> None:
        await asyncio.sleep(self._next)
        self._next = min(self._next * 2, self.longest)

    def reset(self) -> None:
        self._next = self.first


class Loop:
    """Runs `step` for ever. A step returns True when there is more to do right away.

    Between idle steps it waits `idle` seconds or until it is woken. A step that fails is logged and
    retried after an increasing delay. A loop without a successful step for `stale_after` seconds, because its
    steps fail or one hangs, fails its readiness check.
    """

    def __init__(
        self,
        name: str,
        step: Step,
        *,
        idle: float,
        wakeup: Wakeup | None = None,
        stale_after: float = 30.0,
        longest_pause: float = 5.0,
    ) -> None:
        self.name = name
        self.step = step
        self.idle = idle
        self.wakeup = wakeup or Wakeup()
        self.stale_after = max(stale_after, idle * 3)
        self.longest_pause = longest_pause
        self.failures = 0
        self._last_good = time.monotonic()
        LOOP_AGE.labels(name).set_function(lambda: self.age)

    @property
    def age(self) -> float:
        """Seconds since the last successful step."""
        return time.monotonic() - self._last_good

    def problem(self) -> str | None:
        """None, or a sentence for the readiness response."""
        if self.age <= self.stale_after:
            return None
        return f"{self.name} has not succeeded for {self.age:.0f} s ({self.failures} failures in a row)"

    async def run(self) -> None:
        while True:
            try:
                with no_stray_cancellation():
                    more = await self.step()
            except Exception as problem:
                self.failures += 1
                pause = min(0.1 * 2 ** min(self.failures - 1, 10), self.longest_pause)
                log.warning(
                    "loop_step_failed",
                    loop=self.name,
                    failures=self.failures,
                    pause=pause,
                    error=type(problem).__name__,
                    exc_info=self.failures == 1,
                )
                await asyncio.sleep(pause)
                continue
            self.failures = 0
            self._last_good = time.monotonic()
            if more:
                await asyncio.sleep(0)
            else:
                await self.wakeup.wait(self.idle)


@contextmanager
def no_stray_cancellation() -> Iterator[None]:
    """When aiormq gives a connection up, it raises CancelledError in whoever waits for a reply on it. Nobody
    has cancelled that task, and it must not end: to us it is an error like others.
    """
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise ConnectionError("the connection was given up") from None


async def end_tasks(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancels tasks and waits for their end. Tasks that keep running are cancelled again.

    If its connection ends at the same moment, aiormq replaces the cancellation with its own error. A loop
    survives errors, so one cancellation may be lost.
    """
    all_of_them = list(tasks)
    left = {task for task in all_of_them if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_SECONDS)
    for task in all_of_them:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not warn about it


@asynccontextmanager
async def running(loops: Iterable[Loop]) -> AsyncIterator[None]:
    """Runs the loops during the block. Leaving it cancels them and waits for their end."""
    tasks = [asyncio.create_task(loop.run(), name=loop.name) for loop in loops]
    try:
        yield
    finally:
        await end_tasks(tasks)
