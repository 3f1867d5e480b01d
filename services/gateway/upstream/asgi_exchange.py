"""One request to an ASGI application in this process: the server's side of the protocol."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from services.gateway.upstream.answer import (
    STREAM_THRESHOLD,
    BodyStream,
    OutcomeUnknown,
    UpstreamAnswer,
    end_to_end,
)

Message = MutableMapping[str, Any]
ASGIApp = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

_log: Final = logging.getLogger(__name__)
_BODILESS: Final = frozenset({204, 304})


class AsgiExchange:
    def __init__(self, scope: Message, body: bytes) -> None:
        self._scope = scope
        self._request: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._clock = asyncio.timeout(None)
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._size = 0
        self._stream: BodyStream | None = None
        self._drained = asyncio.Event()
        self._over = asyncio.Event()
        self.answer: asyncio.Future[UpstreamAnswer] = asyncio.get_running_loop().create_future()

    async def run(self, app: ASGIApp, time_limit: float) -> None:
        self._time_limit = time_limit
        self._task = asyncio.current_task()
        try:
            async with self._clock:
                self._clock.reschedule(asyncio.get_running_loop().time() + time_limit)
                await app(self._scope, self._receive, self._send)
        except Exception as error:
            if self._clock.expired():
                self.fail("the service did not answer in time")
                return
            _log.error("service_raised", exc_info=error)
        if self._status:
            self.fail("the service stopped in the middle of its answer")
        else:  # as a server does when an application fails before it answers
            self._status = 500
            self._end()

    async def _receive(self) -> Message:
        if self._request is not None:
            request, self._request = self._request, None
            return request
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [
                (bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())
            ]
        elif message["type"] == "http.response.body" and not self._over.is_set():
            await self._take_part(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                self._set_clock(None)  # work after the answer has no time limit
                self._end()

    async def _take_part(self, part: bytes) -> None:
        if self._scope["method"] == "HEAD" or self._status in _BODILESS:
            return
        if self._stream is None:
            self._parts.append(part)
            self._size += len(part)
            if self._size >= STREAM_THRESHOLD:
                self._stream = BodyStream(self._drained.set, self._abandon)
                self._deliver_answer()
            return
        self._stream.feed(part)
        if self._stream.size >= STREAM_THRESHOLD:
            await self._pause_reading()

    async def _pause_reading(self) -> None:
        """As on a connection: a slow reader does not use up the service's time, and has its own limit."""
        time = asyncio.get_running_loop().time
        left = (self._clock.when() or time()) - time()
        self._set_clock(time() + self._time_limit)
        self._drained.clear()
        await self._drained.wait()
        self._set_clock(time() + left)

    def _set_clock(self, when: float | None) -> None:
        if not self._clock.expired():  # an application may keep sending while it is being cancelled
            self._clock.reschedule(when)

    def _deliver_answer(self) -> None:
        if not self.answer.done():
            self.answer.set_result(
                UpstreamAnswer(self._status, end_to_end(self._headers), b"".join(self._parts), self._stream)
            )

    def _end(self) -> None:
        if self._over.is_set():
            return
        self._over.set()
        if self._stream is None:
            self._deliver_answer()
        else:
            self._stream.end()

    def _abandon(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def fail(self, why: str) -> None:
        """Nothing happens if the answer is complete."""
        if self._over.is_set():
            return
        self._over.set()
        if self._stream is not None:
            self._stream.end(OutcomeUnknown(why))
        elif not self.answer.done():
            self.answer.set_exception(OutcomeUnknown(why))
