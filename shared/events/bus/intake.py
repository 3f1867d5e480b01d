"""The receiving side: each session's batches in order, each event stored once, then a reply."""

from collections.abc import Sequence

import structlog

from shared.db.unavailable import is_unavailable
from shared.events.bus import Batch, Handler, Message, Park, Poison, Refused, Reply, Stored
from shared.events.bus.topology import Queue

log = structlog.get_logger("bus")

# A replica of a producer has one session per partition, and a new one after each trouble.
MOST_SESSIONS = 4096


class Intake:
    """What a queue's consumer does with the batches that arrive, whichever bus carries them.

    It remembers the last batch of each session in memory. After a restart it knows none, so that each session
    starts over unless it has just begun: nothing has to be repaired. A batch that is repeated does no harm,
    because its events are known. Two sessions may send the same partition: what came before an event was in
    the same session or is stored already, so the one that lags behind only repeats.
    """

    def __init__(self, queue: Queue, handler: Handler, park: Park | None = None) -> None:
        self.queue = queue
        self._handler = handler
        self._park = park
        self._last: dict[tuple[int, str], int] = {}

    async def take(self, batches: Sequence[Batch]) -> list[Reply]:
        """The replies, in the order of the batches. Raises if the database is unavailable: then nothing is
        known of any session any more, and the batches come again.
        """
        accepted = [self._accept(batch) for batch in batches]
        messages = [
            message
            for batch, is_accepted in zip(batches, accepted, strict=True)
            if is_accepted
            for message in batch.messages
        ]
        try:
            refused = await self._handle(messages) if messages else {}
        except BaseException:
            self._last.clear()
            raise
        return [
            _reply(batch, refused) if is_accepted else Reply(batch.partition, batch.session, start_over=True)
            for batch, is_accepted in zip(batches, accepted, strict=True)
        ]

    def _accept(self, batch: Batch) -> bool:
        """True for the next batch of its session, or an earlier one again. 1 is the first of any session."""
        session = (batch.partition, batch.session)
        last = self._last.get(session, 0)
        if batch.number > last + 1:
            log.info("session_starts_over", queue=self.queue.name, partition=batch.partition, last=last)
            return False
        if len(self._last) == MOST_SESSIONS:
            # Nearly all of them have ended. Those that go on start over.
            self._last.clear()
        self._last[session] = max(last, batch.number)
        return True

    async def _handle(self, messages: Sequence[Message]) -> dict[str, str]:
        """By event id, why messages can never be handled: one by one, if all of them together fail."""
        if await self._problem(messages) is None:
            return {}
        refused: dict[str, str] = {}
        for message in messages:
            problem = await self._problem([message])
            if problem is not None:
                log.error("message_parked", queue=self.queue.name, id=message.id, reason=problem)
                if self._park is not None:
                    await self._park(message, problem)
                else:
                    refused[message.id] = problem
        return refused

    async def _problem(self, messages: Sequence[Message]) -> str | None:
        """None once the messages are stored, or the reason if they themselves are the cause."""
        try:
            await self._handler(messages)
        except Poison as problem:
            return _text(str(problem) or "poison")
        except Exception as problem:
            if is_unavailable(problem):
                raise
            log.error("handler_failed", queue=self.queue.name, messages=len(messages), exc_info=True)
            return _text(f"{type(problem).__name__}: {problem}")
        return None


def _reply(batch: Batch, refused: dict[str, str]) -> Reply:
    return Reply(
        batch.partition,
        batch.session,
        [Stored(one.row_id, one.id) for one in batch.messages if one.id not in refused],
        [Refused(one.row_id, one.id, refused[one.id]) for one in batch.messages if one.id in refused],
    )


def _text(reason: str) -> str:
    """What a column of type text takes, whatever was quoted from the message."""
    return reason[:500].encode(errors="replace").replace(b"\0", b"?").decode()
