"""One keep-alive connection to a service, carrying one exchange at a time."""

import asyncio
import select
from collections.abc import Callable
from typing import Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from services.gateway.upstream.messages import OutcomeUnknown, UpstreamResponse, end_to_end

HEAD_LIMIT: Final = 64 * 1024
# Far above everything that our services send. A page has at most half a megabyte.
BODY_LIMIT: Final = 64 * 1024 * 1024
UNAVAILABLE: Final = 503
_FRAMED: Final = frozenset({b"content-length", b"transfer-encoding"})


class BrokenResponse(Exception):
    pass


class ResponseReader:
    """Parses responses with httptools. The body is not inspected."""

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self.begin(head_only=False)

    def begin(self, *, head_only: bool) -> None:
        self._head_only = head_only
        self._head_size = 0
        self._parts: list[bytes] = []
        self.headers: list[tuple[bytes, bytes]] = []
        self._size = 0  # of the body so far
        self.status = 0  # until the head is complete
        self.complete = False
        self.keep_alive = False

    def feed(self, data: bytes) -> None:
        if not self.status:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.keep_alive = False
            if not self.complete:  # otherwise only what follows the response is broken
                raise BrokenResponse from error
        if self._head_size > HEAD_LIMIT and self._head_is_too_large():
            raise BrokenResponse

    def response(self) -> UpstreamResponse:
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        return UpstreamResponse(self.status, end_to_end(self.headers), body)

    def ends_with_connection(self) -> bool:
        return self.status != 0 and not any(name in _FRAMED for name, _ in self.headers)

    def _head_is_too_large(self) -> bool:
        # One read may bring a small head and much body: with the head complete, count what is in it.
        return not self.status or sum(len(name) + len(value) for name, value in self.headers) > HEAD_LIMIT

    # -- called by the parser

    def on_message_begin(self) -> None:
        if self.complete:
            raise BrokenResponse  # a second response to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.status:  # after the head these are trailers, which are not passed on
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self.headers.clear()
            return
        self.status = status
        # The parser does not know that a response to HEAD has no body and waits for one, so the connection is
        # closed.
        self.complete = self._head_only

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._size += len(body)
        if self._size > BODY_LIMIT:
            raise BrokenResponse

    def on_message_complete(self) -> None:
        if self.status:  # 1xx come before the response
            self.complete = True
            self.keep_alive = self._parser.should_keep_alive()


class ClosedBeforeResponse(OutcomeUnknown):
    """The peer closed without sending a byte, as it does with a stale keep-alive connection."""


class Connection(asyncio.Protocol):
    """`finished` is called when the connection is free again, `lost` once, when it has ended.

    Time limits are fields that the pool's sweep compares; a timer per request would cost more.
    """

    def __init__(
        self, finished: Callable[["Connection"], None], lost: Callable[["Connection"], None]
    ) -> None:
        self._finished = finished
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._poll = select.poll()
        self._reader = ResponseReader()
        self._waiter: asyncio.Future[UpstreamResponse] | None = None
        self._last_read: float | None = None  # when the last part of an unfinished response came
        self.deadline = 0.0  # of the running exchange, or of idleness
        self.closed = False
        self.reused = False
        self.retiring = False

    # -- called by the pool

    @property
    def busy(self) -> bool:
        return self._waiter is not None

    def send(self, request: bytes, time_limit: float, *, head_only: bool) -> asyncio.Future[UpstreamResponse]:
        assert self._transport is not None and self._waiter is None and not self.closed
        self._reader.begin(head_only=head_only)
        self._last_read = None
        self.deadline = self._loop.time() + time_limit
        self._waiter = waiter = self._loop.create_future()
        self._transport.write(request)
        return waiter

    def has_unread_input(self) -> bool:
        """Whether an idle socket has input that the loop has not delivered yet: its end, or garbage."""
        return bool(self._poll.poll(0))

    def is_overdue(self, now: float, read_timeout: float) -> bool:
        return now > self.deadline or (self._last_read is not None and now - self._last_read > read_timeout)

    def abandon(self, waiter: asyncio.Future[UpstreamResponse]) -> None:
        """The caller has gone. If its response is complete, another request may use the connection by now."""
        if self._waiter is waiter:
            self.drop()

    def drop(self, error: OutcomeUnknown | None = None) -> None:
        """Close immediately. A running exchange fails, and none of its bytes can reach a later one."""
        if self.closed:
            return
        self.closed = True
        if self._transport is not None:
            self._transport.abort()
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error or OutcomeUnknown("the exchange was given up"))
        self._lost(self)

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        if self.closed:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:  # unsolicited: a late 408, or garbage
            self.drop()
            return
        try:
            self._reader.feed(data)
        except BrokenResponse:
            self.drop(OutcomeUnknown("the answer is not sound HTTP/1.1"))
            return
        if self._reader.complete:
            self._finish()
        else:
            self._last_read = self._loop.time()

    def eof_received(self) -> None:
        if self._waiter is not None and self._reader.ends_with_connection():
            self._finish()  # not kept alive, so this drops it
        self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._last_read is None:
            self.drop(ClosedBeforeResponse("the peer closed before it answered"))
        else:
            self.drop(OutcomeUnknown("the peer closed in the middle of its answer"))

    def _finish(self) -> None:
        assert self._transport is not None and self._waiter is not None
        if not self._waiter.done():  # cancelled, and its caller not yet told
            self._waiter.set_result(self._reader.response())
        self._waiter = self._last_read = None
        # After an early response (413) unsent bytes of the request would precede the next one. After a 503 a
        # new connection may reach a replica that is able to serve; this one would lead to the same again.
        unsent = self._transport.get_write_buffer_size()
        if not self._reader.keep_alive or self.retiring or unsent or self._reader.status == UNAVAILABLE:
            self.drop()
        else:
            self.reused = True
            self._finished(self)
