"""One keep-alive connection to a service, carrying one exchange at a time."""

import asyncio
import select
from collections.abc import Callable
from typing import cast

from services.gateway.upstream.answer import (
    STREAM_THRESHOLD,
    BodyStream,
    OutcomeUnknown,
    UpstreamAnswer,
    end_to_end,
)
from services.gateway.upstream.answer_reader import AnswerReader, BrokenAnswer

UNAVAILABLE = 503


class ClosedBeforeAnswer(OutcomeUnknown):
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
        self._reader = AnswerReader()
        self._waiter: asyncio.Future[UpstreamAnswer] | None = None
        self._stream: BodyStream | None = None
        self._time_limit = 0.0
        self._time_left: float | None = None  # of the service's time limit, while reading is paused
        self._last_read: float | None = None  # when the last part of an unfinished answer came
        self.deadline = 0.0  # of the running exchange, or of idleness
        self.closed = False
        self.reused = False
        self.retiring = False

    # -- called by the pool

    @property
    def busy(self) -> bool:
        return self._waiter is not None

    def send(self, request: bytes, time_limit: float, *, head_only: bool) -> asyncio.Future[UpstreamAnswer]:
        assert self._transport is not None and self._waiter is None and not self.closed
        self._reader.begin(head_only=head_only)
        self._stream = self._last_read = self._time_left = None
        self._time_limit = time_limit
        self.deadline = self._loop.time() + time_limit
        self._waiter = waiter = self._loop.create_future()
        self._transport.write(request)
        return waiter

    def has_unread_input(self) -> bool:
        """Whether an idle socket has input that the loop has not delivered yet: its end, or garbage."""
        return bool(self._poll.poll(0))

    def is_overdue(self, now: float, read_timeout: float) -> bool:
        return now > self.deadline or (self._last_read is not None and now - self._last_read > read_timeout)

    def abandon(self, waiter: asyncio.Future[UpstreamAnswer]) -> None:
        """The caller has gone. If its answer is complete, another request may already use the connection."""
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
        if waiter is not None:
            error = error or OutcomeUnknown("the exchange was given up")
            if self._stream is not None:
                self._stream.end(error)
            elif not waiter.done():
                waiter.set_exception(error)
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
        except BrokenAnswer:
            self.drop(OutcomeUnknown("the answer is not sound HTTP/1.1"))
            return
        if self._reader.complete:
            self._finish()
        else:
            self._pass_on_part()

    def eof_received(self) -> None:
        if self._waiter is not None and self._reader.ends_with_connection():
            self._finish()  # not kept alive, so this drops it
        self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._last_read is None and self._time_left is None:
            self.drop(ClosedBeforeAnswer("the peer closed before it answered"))
        else:
            self.drop(OutcomeUnknown("the peer closed in the middle of its answer"))

    # -- the answer's way out

    def _finish(self) -> None:
        assert self._transport is not None and self._waiter is not None
        waiter = self._waiter
        if self._stream is None:
            self._deliver_answer(waiter)
        else:
            self._stream.feed(self._reader.take_body())
            self._stream.end()
        self._waiter = self._stream = self._last_read = None
        # After an early answer (a 413) unsent bytes of the request would precede the next one. After a 503 a
        # new connection may reach a replica that is able to serve; this one would lead to the same again.
        unsent = self._transport.get_write_buffer_size()
        if not self._reader.keep_alive or self.retiring or unsent or self._reader.status == UNAVAILABLE:
            self.drop()
        else:
            self.reused = True
            self._finished(self)

    def _pass_on_part(self) -> None:
        self._last_read = self._loop.time()
        if self._stream is not None:
            self._stream.feed(self._reader.take_body())
            if self._stream.size >= STREAM_THRESHOLD:
                self._pause_reading()
        elif self._reader.size >= STREAM_THRESHOLD and self._waiter is not None:
            self._stream = BodyStream(self._resume_reading, self.drop)
            self._deliver_answer(self._waiter)

    def _deliver_answer(self, waiter: asyncio.Future[UpstreamAnswer]) -> None:
        if not waiter.done():  # cancelled, and its caller not yet told
            reader = self._reader
            waiter.set_result(
                UpstreamAnswer(reader.status, end_to_end(reader.headers), reader.take_body(), self._stream)
            )

    def _pause_reading(self) -> None:
        """A slow reader does not use up the service's time, and gets as much time as an answer may take."""
        assert self._transport is not None
        if self._time_left is None:
            now = self._loop.time()
            self._time_left, self.deadline, self._last_read = (
                self.deadline - now,
                now + self._time_limit,
                None,
            )
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._time_left is None or self.closed or self._transport is None:
            return
        self._last_read = self._loop.time()
        self.deadline, self._time_left = self._last_read + self._time_left, None
        self._transport.resume_reading()
