"""Limits on what a receiver may send, applied to every connection of the dispatcher.

aiohttp limits the size of a header, but neither the number of interim responses nor the size of chunk
extensions: a receiver that sends them without end kept the event loop busy for all tenants. It also takes
what arrives on an idle connection as the response to the next request, which may be another endpoint's.
"""

import asyncio
import select
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.streams import EMPTY_PAYLOAD

# `100 Continue` is not asked for, but allowed. `103 Early Hints` may come a few times.
MAX_INTERIM_RESPONSES = 8
# Everything that is not body: status line, headers, chunk sizes and extensions, interim responses, trailers.
# No more than we read of a body (64 KiB), because parsing it costs as much.
MAX_OVERHEAD = 64 * 1024
# Before the final header is complete, bytes are parsed in slices, so that the limits stop a flood early. With
# 8 KiB, 327 interim responses were parsed before the ninth was refused: four times the CPU.
SLICE = 1024


class ExcessiveResponse(aiohttp.ClientError):
    """The receiver sent more interim responses, headers or chunk extensions than we read."""


class BoundedResponseHandler(ResponseHandler):
    """aiohttp's protocol with limits. It overrides the methods that the connector and the loop call.

    `_final` is the body of the final response. Once it is complete, nothing more may arrive: the connection
    is closed on the first unrequested byte, and a connection with unread input is not reused.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._final: Any = None
        self._received = 0
        self._interim = 0
        self._is_waiting = False
        self._poll: select.poll | None = None

    def set_response_params(self, *args: Any, **params: Any) -> None:
        self._final = None
        self._received = self._interim = 0
        self._is_waiting = True
        super().set_response_params(*args, **params)

    def data_received(self, data: bytes) -> None:
        if not data:
            # aiohttp resumes its parser with no data.
            super().data_received(data)
            return
        if not self._is_waiting:
            self._drop_unrequested()
            return
        start = 0
        while start < len(data):
            part = data[start : start + SLICE] if self._final is None else data[start:]
            start += len(part)
            self._received += len(part)
            super().data_received(part)
            if self._exceeds_limits():
                self._give_up()
                return
            if self._is_complete():
                self._is_waiting = False
                if start < len(data):
                    self.force_close()
                return

    def feed_data(self, data: Any, size: int = 0) -> None:
        message, payload = data
        if 100 <= message.code <= 199 and message.code != 101:
            self._interim += 1
            return
        self._final = payload
        super().feed_data(data, size)

    def is_connected(self) -> bool:
        return super().is_connected() and (self._is_waiting or not self._has_unread_input())

    def _drop_unrequested(self) -> None:
        """Bytes after a complete response. The response stays readable; the connection is not reused."""
        self.force_close()
        if self.transport is not None:
            self.transport.close()

    def _is_complete(self) -> bool:
        return self._final is not None and (self._final is EMPTY_PAYLOAD or self._final.is_eof())

    def _exceeds_limits(self) -> bool:
        body = 0 if self._final is None else self._final.total_bytes
        return self._interim > MAX_INTERIM_RESPONSES or self._received - body > MAX_OVERHEAD

    def _give_up(self) -> None:
        error = ExcessiveResponse("too many interim responses, headers or chunk extensions")
        if self._final is not None and self._final is not EMPTY_PAYLOAD:
            self._final.set_exception(error)
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()

    def _has_unread_input(self) -> bool:
        """Whether an idle socket has input that the loop has not delivered yet."""
        if self._poll is None:
            assert self.transport is not None
            self._poll = select.poll()
            self._poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(self._poll.poll(0))


class BoundedConnector(aiohttp.TCPConnector):
    """A connector whose connections keep the limits above."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # No public option sets the protocol. A test names the versions of aiohttp that this was read in.
        factory: Any = partial(BoundedResponseHandler, loop=self._loop)
        self._factory = factory
