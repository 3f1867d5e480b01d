"""The outcome of a batch: handled, held while a dependency is unavailable, or parked message by message."""

from collections.abc import AsyncIterator, Sequence

import structlog

from shared.background import Backoff
from shared.db.unavailable import is_unavailable
from shared.events.bus.protocol import Handler, Message, Poison

log = structlog.get_logger("bus")

TRIES = 4


async def outcomes(
    messages: Sequence[Message], handler: Handler, *, queue: str, backoff: Backoff
) -> AsyncIterator[tuple[Message, str | None]]:
    """Each message with None once it is handled, or with the reason why it must be parked; in order."""
    reason = await _attempt(messages, handler, queue, backoff)
    if reason is None:
        for message in messages:
            yield message, None
        return
    if len(messages) == 1:
        yield messages[0], reason
        return
    for message in messages:
        yield message, await _attempt([message], handler, queue, backoff)


async def _attempt(messages: Sequence[Message], handler: Handler, queue: str, backoff: Backoff) -> str | None:
    """None once handled, or the reason if the messages themselves are the cause."""
    failures = 0
    while True:
        try:
            await handler(messages)
        except Poison as problem:
            return str(problem) or "poison"
        except Exception as problem:
            if is_unavailable(problem):
                # The message is not the cause. Returning it to the queue would use up the queue's delivery
                # limit.
                log.warning("batch_held", queue=queue, messages=len(messages), error=type(problem).__name__)
                await backoff.pause()
                continue
            failures += 1
            log.error("handler_failed", queue=queue, messages=len(messages), failures=failures, exc_info=True)
            if failures >= TRIES or len(messages) > 1:
                return f"{type(problem).__name__}: {problem}"[:500]
        else:
            backoff.reset()
            return None
        await backoff.pause()
