"""HTTP/1.1 for an ASGI app, parsed by httptools on the event loop that runs the app.

A request passes no other thread, so on a busy processor it waits less often (record 0027).
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url

from shared.http.asgi import ASGIApp
from shared.http.client_address import network_of
from shared.http.exchange import EMPTY, STATUS_LINES, Exchange

# In a request's scope: its `Connection`.
CONNECTION: Final = "studio.connection"
# Parsed at a time, so that few requests are kept of a client that does not wait for its responses.
PIECE: Final = 16 * 1024
# Of a body that the app has not yet taken.
MOST_UNTAKEN: Final = 64 * 1024
MOST_HEADERS: Final = 100
_RESET: Final = struct.pack("ii", 1, 0)


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
            self.write(STATUS_LINES[status] + EMPTY)
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
