"""A consumer's acknowledgements to the producer: which messages are stored, and which were parked."""

import asyncio
import contextlib
import time
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
# What cannot be sent is tried again for this long: a broker that has lost its data gets the producer's queue
# only when the producer is connected again. It would publish what is not acknowledged 30 s later at best.
TRY_AGAIN_SECONDS = 20.0
TRY_AGAIN_EVERY = 1.0
MOST_TRIED_AGAIN = 10_000


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


class Unsent(Struct, frozen=True):
    source: str
    acknowledgements: Sequence[Acknowledgement]
    until: float


class AcknowledgementSender:
    """Collects acknowledgements and sends them in the background.

    One that is lost does no harm: the producer publishes its row again and gets another.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[str, list[Acknowledgement]] = defaultdict(list)
        self._unsent: list[Unsent] = []
        self._flushing: asyncio.Task[None] | None = None
        self._trying_again: asyncio.Task[None] | None = None

    def add(self, source: str, acknowledgement: Acknowledgement) -> None:
        self._waiting[source].append(acknowledgement)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_soon())

    async def close(self) -> None:
        await end_tasks([task for task in (self._flushing, self._trying_again) if task is not None])
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
                until = time.monotonic() + TRY_AGAIN_SECONDS
                part = Unsent(source, acknowledgements[start : start + AT_ONCE], until)
                problem = await self._problem_of(part)
                if problem:
                    log.warning("acknowledgements_not_sent", source=source, error=problem)
                    self._keep(part)

    def _keep(self, unsent: Unsent) -> None:
        kept = sum(len(one.acknowledgements) for one in self._unsent)
        if kept + len(unsent.acknowledgements) <= MOST_TRIED_AGAIN:
            self._unsent.append(unsent)
        if self._trying_again is None or self._trying_again.done():
            self._trying_again = asyncio.create_task(self._try_again())

    async def _try_again(self) -> None:
        while self._unsent:
            await asyncio.sleep(TRY_AGAIN_EVERY)
            unsent, self._unsent = self._unsent, []
            for one in unsent:
                if await self._problem_of(one) and time.monotonic() < one.until:
                    self._unsent.append(one)

    async def _problem_of(self, sending: Unsent) -> str | None:
        try:
            await self._send(sending.source, sending.acknowledgements)
        except Exception as problem:
            return type(problem).__name__
        return None
