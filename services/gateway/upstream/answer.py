"""What forwarding means to the gateway: one request, one answer, and two kinds of failure."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct

Headers = Sequence[tuple[bytes, bytes]]

# Smaller answers are collected and returned whole, so that a service that dies midway results in a clean 504.
# Pages of the partner API are smaller than this. Larger answers are streamed, buffering about this much.
STREAM_THRESHOLD: Final = 256 * 1024

# RFC 9110 7.6.1: these describe one connection, not the message.
HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization"
    b" te trailer transfer-encoding upgrade".split()
)


class NotReached(Exception):
    """Nothing was sent, so nothing was done. It is safe to retry."""


class OutcomeUnknown(Exception):
    """The request was sent, at least in part, and no complete answer came back."""


class BodyStream:
    """The rest of a long answer: filled by the transport, consumed by the caller.

    `drained` asks the transport for more; `abandoned` tells it that the caller has gone away.
    """

    def __init__(self, drained: Callable[[], None], abandoned: Callable[[], None]) -> None:
        self._drained = drained
        self._abandoned = abandoned
        self._parts: list[bytes] = []
        self._ended = False
        self._error: OutcomeUnknown | None = None
        self._more: asyncio.Future[None] | None = None
        self.size = 0

    def feed(self, part: bytes) -> None:
        self._parts.append(part)
        self.size += len(part)
        self._wake()

    def end(self, error: OutcomeUnknown | None = None) -> None:
        self._ended, self._error = True, error
        self._wake()

    async def aclose(self) -> None:
        if not self._ended:  # otherwise the connection may already carry another answer
            self._abandoned()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._parts:
            if self._error is not None:
                raise self._error
            if self._ended:
                raise StopAsyncIteration
            self._more = asyncio.get_running_loop().create_future()
            try:
                await self._more
            except asyncio.CancelledError:
                await self.aclose()
                raise
        part = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        if not self._ended:
            self._drained()
        return part

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)


class UpstreamAnswer(Struct):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    stream: BodyStream | None = None  # what follows `body`; must be read to its end or closed

    async def whole_body(self) -> bytes:
        rest = [part async for part in self.stream] if self.stream is not None else []
        return b"".join((self.body, *rest))


class Upstream(Protocol):
    async def request(
        self, method: bytes, target: bytes, headers: Headers, body: bytes
    ) -> UpstreamAnswer: ...

    async def close(self) -> None: ...


def end_to_end(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers to pass on: without hop-by-hop headers and those that `Connection` names."""
    kept = [header for header in headers if header[0] not in HOP_BY_HOP]
    if len(kept) == len(headers):
        return kept
    named = {n.strip().lower() for name, value in headers if name == b"connection" for n in value.split(b",")}
    return [header for header in kept if header[0] not in named] if named else kept
