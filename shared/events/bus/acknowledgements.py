"""A consumer's acknowledgements to the producer: which messages are stored, and which were parked."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import structlog
from msgspec import Struct

from shared.background import end_tasks

log = structlog.get_logger("bus")

# Acknowledgements are sent in batches, so a row may stay in its outbox this much longer.
FLUSH_SECONDS = 0.02
# The maximum number of acknowledgements in a message.
AT_ONCE = 500


class Acknowledgement(Struct, frozen=True, array_like=True):
    """`reference` is the producer's own and comes back unchanged; `id` is the event's."""

    reference: str
    id: str
    parked: bool = False


Settle = Callable[[Sequence[Acknowledgement]], Awaitable[None]]
Send = Callable[[str, Sequence[Acknowledgement]], Awaitable[None]]

_decoder = msgspec.json.Decoder(list[Acknowledgement])


def readable_acknowledgements(body: bytes) -> list[Acknowledgement]:
    """Empty if the message is something else. The rows are then published again."""
    try:
        return _decoder.decode(body)
    except msgspec.DecodeError as problem:
        log.warning("acknowledgements_unreadable", error=str(problem))
        return []


class AcknowledgementSender:
    """Collects acknowledgements and sends them in the background.

    One that is lost does no harm: the producer publishes its row again and gets another.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[str, list[Acknowledgement]] = defaultdict(list)
        self._flushing: asyncio.Task[None] | None = None

    def add(self, source: str, acknowledgement: Acknowledgement) -> None:
        self._waiting[source].append(acknowledgement)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_soon())

    async def close(self) -> None:
        if self._flushing is not None:
            await end_tasks([self._flushing])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self._flush()

    async def _flush_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(FLUSH_SECONDS)
            await self._flush()

    async def _flush(self) -> None:
        waiting, self._waiting = self._waiting, defaultdict(list)
        for source, acknowledgements in waiting.items():
            for start in range(0, len(acknowledgements), AT_ONCE):
                try:
                    await self._send(source, acknowledgements[start : start + AT_ONCE])
                except Exception as problem:
                    log.warning("acknowledgements_not_sent", source=source, error=type(problem).__name__)
