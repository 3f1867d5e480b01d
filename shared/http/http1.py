"""HTTP/1.1 for an ASGI app, parsed by httptools on the event loop that runs the app.

A request passes no other thread, so on a busy processor it waits less often (record 0027).
"""

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import unquote

import structlog
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url

from shared.http.asgi import ASGIApp, Message
from shared.http.client_address import network_of

log = structlog.get_logger("serve")

# In a request's scope: its `Connection`.
CONNECTION: Final = "studio.connection"
# Parsed at a time, so that few requests are kept of a client that does not wait for its responses.
PIECE: Final = 16 * 1024
# Of a body that the app has not yet taken.
MOST_UNTAKEN: Final = 64 * 1024
MOST_HEADERS: Final = 100
_RESET: Final = struct.pack("ii", 1, 0)
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
_BODILESS: Final = frozenset({204, 304})
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
_EMPTY: Final = b"content-length: 0\r\nconnection: close\r\n\r\n"


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
            if (
                self._missing and self._has_length
            ):  # whoever reads on would take the next response for the rest
                raise RuntimeError(f"a response is {self._missing} bytes shorter than it said")
            self.answered = True
            self.wake()
        if connection.writable is not None:
            await connection.writable.wait()

    def _head(self, size: int, more: bool) -> bytes:
        lines = [_STATUS_LINES.get(self._status) or b"HTTP/1.1 %d \r\n" % self._status, _date.line()]
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
                self._connection.write(_STATUS_LINES[500] + _EMPTY)
            self._connection.end(self)


class Connection(asyncio.Protocol):
    """`opened` and `closed` tell the port. Time limits are fields that its sweep compares."""

    def __init__(
        self,
        app: ASGIApp,
        max_head_size: int,
        opened: Callable[["Connection"], None],
        closed: Callable[["Connection"], None],
    ) -> None:
        self._app = app
        self._max_head_size = max_head_size
        self._opened, self._closed = opened, closed
        self._parser: HttpRequestParser  # made with the first byte: many clients send none
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._running: Exchange | None = None
        self._arriving: Exchange | None = None
        self._ahead: list[Exchange] = []
        self._unparsed = b""
        self._without_body = 0  # bytes of a head, of trailers, or between chunks
        self._paused = self._ending = self._half_closed = False
        self.writable: asyncio.Event | None = None  # while the client reads too slowly
        self.lost = False
        self.sent = 0
        # What the port's limits look at.
        self.client = ("", 0)
        self.address = ""
        self.client_address = ""  # behind a trusted proxy what it says, if anything yet
        self.since = self.last_byte = self.waiting_since = self._loop.time()
        self.received = self.authenticated = self.refused = False

    @property
    def busy(self) -> bool:
        return self._running is not None

    @property
    def unsent(self) -> int:
        return self.transport.get_write_buffer_size()

    def reset(self) -> None:
        """Closes at once, also while it is closing, and drops what the kernel holds for a slow reader."""
        if not self.lost:
            with suppress(OSError):
                sock = self.transport.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        if peer is None:  # it has gone already
            self.transport.abort()
            return
        self.client = (str(peer[0]), int(peer[1]))
        self.address = network_of(self.client[0])
        self._opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._ahead.clear()
        self._unparsed = b""
        self._end_reading()
        self.resume_writing()
        self._closed(self)

    def data_received(self, data: bytes) -> None:
        self.last_byte = self._loop.time()
        if not self.received:
            self.received = True
            self._parser = HttpRequestParser(self)
        if self._ending:
            return
        if self._unparsed:
            self._unparsed += data
        else:
            self._parse(data)

    def eof_received(self) -> bool:
        """Whoever sends no more may still read what it has asked for."""
        self._end_reading()
        return self._running is not None

    def pause_writing(self) -> None:
        self.writable = asyncio.Event()

    def resume_writing(self) -> None:
        if self.writable is not None:
            self.writable.set()
            self.writable = None

    # -- called by an exchange

    def write(self, data: bytes) -> None:
        if data and not self.lost:
            self.sent += len(data)
            self.transport.write(data)

    def read_on(self) -> None:
        if self._paused and not (self.lost or self._ahead or self._is_full()):
            self._paused = False
            self.transport.resume_reading()
            if self._unparsed:
                data, self._unparsed = self._unparsed, b""
                self._parse(data)

    def end(self, exchange: Exchange) -> None:
        self._running = self._task = None
        self.waiting_since = self._loop.time()
        if not exchange.answered:
            self.transport.abort()
        elif not (exchange.keep_alive and exchange.arrived):
            self._end_reading()
            self.transport.close()
        elif self._ahead:
            self._start(self._ahead.pop(0))
            self.read_on()
        elif self._ending:
            self.transport.close()
        else:
            self.read_on()

    # -- called by the parser

    def on_message_begin(self) -> None:
        if self._arriving is None:
            self._arriving = Exchange(self)

    def on_url(self, target: bytes) -> None:
        assert self._arriving is not None
        if not self._arriving.scope:
            self._arriving.target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        exchange = self._arriving
        assert exchange is not None
        if exchange.scope:  # a trailer
            return
        name = name.lower()
        if name == b"expect":
            exchange.asks_first = value.lower() == b"100-continue"
        elif name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            raise _Malformed
        elif len(exchange.headers) == MOST_HEADERS:
            raise _HeadTooLarge
        exchange.headers.append((name, value))

    def on_headers_complete(self) -> None:
        exchange = self._arriving
        assert exchange is not None
        if exchange.scope:  # the head was made up, see `_go_on_without_upgrade`
            return
        if self._without_body > self._max_head_size < exchange.size():
            raise _HeadTooLarge
        version = self._parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise _Malformed
        exchange.asks_first &= version == "1.1"
        raw_path, _, query = _in_origin_form(exchange.target).partition(b"?")
        path = raw_path.decode("latin-1")
        exchange.keep_alive = self._parser.should_keep_alive()
        exchange.scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": version,
            "method": self._parser.get_method().decode(),
            "scheme": "http",
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": exchange.headers,
            "client": self.client,
            CONNECTION: self,
        }
        if self._running is None:
            self._start(exchange)
        else:
            self._ahead.append(exchange)

    def on_body(self, body: bytes) -> None:
        assert self._arriving is not None
        self._without_body = 0
        self._arriving.add(body)

    def on_message_complete(self) -> None:
        assert self._arriving is not None
        if self._parser.should_upgrade() and self._arriving.framing():
            return  # the parser leaves the body to whoever would take over
        self._arriving.arrived = True
        self._arriving.wake()
        self._arriving = None

    # -- inside

    def _start(self, exchange: Exchange) -> None:
        exchange.cut |= self._half_closed
        self._running = exchange
        self._task = self._loop.create_task(exchange.run(self._app))

    def _is_full(self) -> bool:
        return self._running is not None and self._running.untaken > MOST_UNTAKEN

    def _parse(self, data: bytes) -> None:
        place = 0
        while place < len(data) and not (self._ahead or self._is_full()):
            piece = data[place : place + PIECE] if place or len(data) > PIECE else data
            self._without_body += len(piece)
            try:
                place += self._feed(piece)
            except HttpParserError as problem:
                self._refuse(431 if isinstance(problem.__context__, _HeadTooLarge) else 400)
                return
            if self._arriving is None:
                self._without_body = 0
            elif self._without_body > self._max_head_size:
                self._refuse(431)
                return
        if self._ahead or self._is_full():
            self._unparsed = data[place:]
            self._paused = True
            self.transport.pause_reading()

    def _feed(self, piece: bytes) -> int:
        """How much of it was parsed."""
        try:
            self._parser.feed_data(piece)
        except HttpParserUpgrade as upgrade:
            self._go_on_without_upgrade()
            return max(1, int(upgrade.args[0]))
        return len(piece)

    def _go_on_without_upgrade(self) -> None:
        """Nothing else is spoken here. Were a body not read as such, it could pass as a request."""
        self._parser = HttpRequestParser(self)
        if self._arriving is not None:
            self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n" % self._arriving.framing())

    def _refuse(self, status: int) -> None:
        """What came is not HTTP, or too much. Requests before it still get their responses."""
        self._ending = True
        for exchange in (self._running, *self._ahead):
            if exchange is not None and not exchange.arrived:
                exchange.cut = True
                exchange.wake()
        if self._running is None:
            self.write(_STATUS_LINES[status] + _EMPTY)
            self.transport.close()

    def _end_reading(self) -> None:
        """The client sends no more, and may have gone. What has arrived is all that there will be."""
        self._ending = self._half_closed = True
        for exchange in (self._running, *self._ahead):
            if exchange is not None:
                exchange.cut = True
                exchange.wake()


class _HeadTooLarge(Exception):
    pass


class _Malformed(Exception):
    pass


def _in_origin_form(target: bytes) -> bytes:
    """Proxies may ask with a whole URL."""
    if target.startswith(b"/") or b"://" not in target:
        return target
    url = parse_url(target)
    return (url.path or b"/") + (b"?" + url.query if url.query else b"")
