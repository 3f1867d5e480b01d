"""What becomes of a batch: handled, held while a dependency is away, or parked message by message."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import structlog

from shared.bus.protocol import Handler, Message, Poison
from shared.errors import Unavailable, UpstreamTimeout
from shared.http_errors import DATABASE_AWAY

log = structlog.get_logger("bus")

# The message is not at fault: it is held, not parked; giving it back would burn the queue's delivery limit.
AWAY: tuple[type[Exception], ...] = (*DATABASE_AWAY, OSError, Unavailable, UpstreamTimeout)
TRIES = 4


def is_away(problem: Exception) -> bool:
    """asyncpg's DataError is an InterfaceError too, but the value is at fault there: it is a ValueError."""
    return isinstance(problem, AWAY) and not isinstance(problem, ValueError)


class Pauses:
    """Seconds between tries, doubling up to a bound."""

    def __init__(self, first: float = 0.1, longest: float = 5.0) -> None:
        self.first = first
        self.longest = longest
        self._next = first

    async def pause(self) -> None:
        await asyncio.sleep(self._next)
        self._next = min(self._next * 2, self.longest)

    def reset(self) -> None:
        self._next = self.first


async def outcomes(
    messages: Sequence[Message], handler: Handler, *, queue: str, pauses: Pauses
) -> AsyncIterator[tuple[Message, str | None]]:
    """Each message with None once it is handled, or with the reason why it must be parked; in order."""
    reason = await _attempt(messages, handler, queue, pauses)
    if reason is None:
        for message in messages:
            yield message, None
        return
    if len(messages) == 1:
        yield messages[0], reason
        return
    for message in messages:
        yield message, await _attempt([message], handler, queue, pauses)


async def _attempt(messages: Sequence[Message], handler: Handler, queue: str, pauses: Pauses) -> str | None:
    """None once handled; the reason when these messages themselves are at fault."""
    failures = 0
    while True:
        try:
            await handler(messages)
        except Poison as problem:
            return str(problem) or "poison"
        except Exception as problem:
            if is_away(problem):
                log.warning("batch_held", queue=queue, messages=len(messages), error=type(problem).__name__)
                await pauses.pause()
                continue
            failures += 1
            log.error("handler_failed", queue=queue, messages=len(messages), failures=failures, exc_info=True)
            if failures >= TRIES or len(messages) > 1:
                return f"{type(problem).__name__}: {problem}"[:500]
        else:
            pauses.reset()
            return None
        await pauses.pause()
