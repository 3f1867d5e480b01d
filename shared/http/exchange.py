"""One request and its response, as ASGI tells them, also before all of the request has arrived.

The server cannot find the next request after an unread body, so it closes the connection. A client that does
not expect this loses its next request. A small body is therefore read to its end, and the connection is kept.
For a large body, or one of unknown length, the response says `Connection: close`, and we keep reading for a
moment: closing a socket with unread bytes sends a reset, and the client may lose the response.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import structlog

from shared.http.asgi import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from shared.http.http1 import Connection

log = structlog.get_logger("serve")

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
_BODILESS: Final = frozenset({204, 304})
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
EMPTY: Final = b"content-length: 0\r\nconnection: close\r\n\r\n"
# A body up to this size that arrives this fast is read to its end, so a refused write keeps its connection.
SMALL_BODY: Final = 64 * 1024
SMALL_BODY_SECONDS: Final = 0.5
# How much of an unwanted body is read and discarded after the response, and for how long.
LARGEST_LEFTOVER: Final = 8 * 1024 * 1024
LEFTOVER_SECONDS: Final = 2.0


class ClientGone(ConnectionError):
    """The rest of a response has nobody to go to."""


class _Date:
    """The line of the response's head, made anew each second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        second = int(time.time())
        if second != self._second:
            self._second, self._line = second, f"date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._line


_date = _Date()


class Exchange:
    """One request and its response, as ASGI tells them."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.scope: dict[str, Any] = {}
        self.target = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.keep_alive = False
        self.asks_first = False  # `Expect: 100-continue`
        self.arrived = False  # the whole request
        self.cut = False  # it will never arrive, or the client has gone
        self.answered = False
        self.untaken = 0
        self._parts: list[bytes] = []
        self._told_end = False
        self._news: asyncio.Future[None] | None = None
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._begun = self._chunked = self._has_length = False
        self._missing = 0  # of the length that the head told

    def size(self) -> int:
        return len(self.target) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def framing(self) -> bytes:
        """The lines that say where the body ends."""
        return b"".join(b"%b: %b\r\n" % header for header in self.headers if header[0] in _FRAMING)

    def add(self, body: bytes) -> None:
        self._parts.append(body)
        self.untaken += len(body)
        self.wake()

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def receive(self) -> Message:
        while True:
            if self._parts or (self.arrived and not self._told_end):
                body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
                self._parts.clear()
                self.untaken = 0
                # Reading on may bring the end, which is then told with the next part.
                self._told_end = self.arrived
                message = {"type": "http.request", "body": body, "more_body": not self.arrived}
                self._connection.read_on()
                return message
            if self.cut or (self.answered and self.arrived):
                return {"type": "http.disconnect"}
            if self.asks_first and not self._begun:
                self.asks_first = False
                self._connection.write(_CONTINUE)
            if self._news is None or self._news.done():
                self._news = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._news)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._begun:
                raise RuntimeError("a response has begun twice")
            self._status, self._headers = message["status"], message["headers"]
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        connection = self._connection
        if connection.lost and more:
            raise ClientGone
        head = b""
        if not self._begun:
            head = self._head(len(body), more)
            self._begun = True
        self._missing -= len(body)
        if self.scope["method"] == "HEAD" or self._status in _BODILESS:
            body, self._missing = b"", 0
        elif self._chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        connection.write(head + body)
        if not more:
            # Whoever reads on would take the next response for the rest.
            if self._has_length and self._missing:
                raise RuntimeError("a response has not the length that its head told")
            self.answered = True
            self.wake()
        if connection.writable is not None:
            await connection.writable.wait()

    def _head(self, size: int, more: bool) -> bytes:
        lines = [STATUS_LINES.get(self._status) or b"HTTP/1.1 %d \r\n" % self._status, _date.line()]
        bodiless, chunked, has_length = self._status in _BODILESS, False, False
        for name, value in self._headers:
            lines.append(b"%b: %b\r\n" % (name, value))
            if name == b"content-length":
                has_length, self._missing = True, int(value)
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
        if not (has_length or bodiless):
            if not more:
                lines.append(b"content-length: %d\r\n" % size)
            elif self.scope["http_version"] == "1.1" and self.scope["method"] != "HEAD":
                chunked = True
                lines.append(b"transfer-encoding: chunked\r\n")
            else:
                self.keep_alive = False
        if not self.keep_alive and (b"connection", b"close") not in self._headers:
            lines.append(b"connection: close\r\n")
        elif self.keep_alive and self.scope["http_version"] == "1.0":
            lines.append(b"connection: keep-alive\r\n")
        head = b"".join(lines)
        if not head.count(b"\n") == head.count(b"\r") == len(lines):
            raise ValueError("a header of a response has a line break")
        self._chunked, self._has_length = chunked, has_length
        return head + b"\r\n"

    async def run(self, app: ASGIApp) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except ClientGone:
            pass
        except Exception as problem:
            log.error("request_failed", exc_info=problem)
        finally:
            if not self._begun:
                self.answered, self.keep_alive = True, False
                self._connection.write(STATUS_LINES[500] + EMPTY)
            self._connection.end(self)


def with_early_responses(app: ASGIApp) -> ASGIApp:
    def over(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # Most requests have no body and cost only this check.
        for name, _ in scope["headers"]:
            if name in _FRAMING:
                return _answered(app, scope, receive, send)
        return app(scope, receive, send)

    return over


async def _answered(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    body = _Body(receive, dict(scope["headers"]))
    await app(scope, body.receive, body.tell_closing(send))
    await body.read_leftover()


class _Body:
    def __init__(self, receive: Receive, headers: Mapping[bytes, bytes]) -> None:
        length = headers.get(b"content-length", b"")
        self._receive = receive
        # Reading on would send `100 Continue` and invite the client to send the unwanted body.
        self._asks_first = b"expect" in headers
        self._small = length.isdigit() and int(length) <= SMALL_BODY and not self._asks_first
        self._ended = length == b"0"
        self._closing = False

    async def receive(self) -> Any:
        message: Any = await self._receive()
        self._ended = message["type"] != "http.request" or not message.get("more_body")
        return message

    def tell_closing(self, send: Send) -> Send:
        def send_and_tell(message: Message) -> Awaitable[None]:
            if self._ended or message["type"] != "http.response.start":
                return send(message)
            return self._send_early(message, send)

        return send_and_tell

    async def _send_early(self, message: Message, send: Send) -> None:
        if self._small:
            await self._read(SMALL_BODY, SMALL_BODY_SECONDS)
        if not self._ended:
            self._closing = True
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    async def read_leftover(self) -> None:
        if self._closing and not self._ended and not self._asks_first:
            await self._read(LARGEST_LEFTOVER, LEFTOVER_SECONDS)

    async def _read(self, most: int, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not self._ended and most > 0:
                    message = await self.receive()
                    most -= len(message.get("body", b""))
        except TimeoutError:
            return
