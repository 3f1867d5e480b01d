"""A bounded pool of keep-alive connections to one service, at one address."""

import asyncio
import random
import socket
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from services.gateway.upstream.connection import ClosedBeforeResponse, Connection
from services.gateway.upstream.messages import (
    WRITES,
    Headers,
    NotReached,
    OutcomeUnknown,
    UpstreamResponse,
    request_head,
)
from shared.bounded_pool import PoolSlots

_MAX_ADDRESSES: Final = 3  # each gets a share of the time, so that one dead replica cannot use it all


class Address(Struct, frozen=True):
    host: str
    port: int
    path: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Address":
        if text.startswith("unix:/"):
            return cls("localhost", 0, text.removeprefix("unix:"))
        url = urlsplit(text)
        if url.scheme != "http" or not url.hostname or url.path not in ("", "/"):
            raise ValueError("a service's address is http://host:port or unix:/path")
        return cls(url.hostname, url.port or 80)

    @property
    def host_header(self) -> bytes:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (f"{host}:{self.port}" if self.port else host).encode()

    async def connect(self, protocol: asyncio.Protocol, time_limit: float) -> None:
        """Resolved each time, in random order: replicas come and go, and share the load."""
        loop = asyncio.get_running_loop()
        if self.path is not None:
            await loop.create_unix_connection(lambda: protocol, self.path)
            return
        found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        found = random.sample(found, min(len(found), _MAX_ADDRESSES))
        failure: OSError = OSError("the name has no address")
        for *_, address in found:
            try:
                async with asyncio.timeout(time_limit / len(found)):
                    await loop.create_connection(lambda: protocol, *address[:2])
                return
            except OSError as error:  # TimeoutError is one
                failure = error
        raise failure


class HttpUpstream:
    """Forwards to `http://host:port` or `unix:/path`. A write is never sent twice.

    `idle_limit` stays below the server's keep-alive (30 s), so that we close first.
    Connections older than `max_age` are replaced: otherwise a busy gateway would never use new replicas.
    A sweep enforces the time limits, up to a tenth late.
    """

    def __init__(
        self,
        address: str,
        *,
        connect_timeout: float = 1.0,
        response_timeout: float = 10.0,
        read_timeout: float = 5.0,
        max_connections: int = 128,
        max_waiting: int = 1024,
        idle_limit: float = 4.0,
        max_age: float = 60.0,
    ) -> None:
        self._address = Address.parse(address)
        self._host = self._address.host_header
        self._connect_timeout = connect_timeout
        self._response_timeout = response_timeout
        self._read_timeout = read_timeout
        self._tick = max(0.01, min(response_timeout, read_timeout, idle_limit) / 10)
        self._idle_limit = idle_limit
        self._max_age = max_age
        self._max_waiting = max_waiting
        self._slots: PoolSlots[Connection] = PoolSlots(max_connections)
        self._live: dict[Connection, float] = {}  # each with the time at which it is too old
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    async def request(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> UpstreamResponse:
        request = request_head(method, target, self._host, headers, body) + body
        write = method in WRITES
        connection = self._take_idle(write) or await self._acquire(write)
        try:
            return await self._exchange(connection, method, request)
        except ClosedBeforeResponse:
            # A stale connection, or a replica that ended just when it was asked.
            if write:
                raise
        if connection.reused:
            self._drop_idle()  # the other idle connections are as old
        return await self._exchange(await self._acquire(write, fresh=True), method, request)

    async def close(self) -> None:
        self._closed = True
        while self._slots.waiting:
            self._slots.release(None)
        for connection in list(self._live):
            connection.drop()
        if self._sweeper is not None:
            self._sweeper.cancel()

    async def _exchange(self, connection: Connection, method: bytes, request: bytes) -> UpstreamResponse:
        waiter = connection.send(request, self._response_timeout, head_only=method == b"HEAD")
        try:
            return await waiter
        except asyncio.CancelledError:
            connection.abandon(waiter)
            raise

    # -- acquiring a connection

    def _take_idle(self, write: bool) -> Connection | None:
        while self._slots.idle:
            connection = self._slots.idle.pop()
            if self._is_usable(connection, write):
                return connection
            connection.drop()
        return None

    def _is_usable(self, connection: Connection, write: bool) -> bool:
        """A write cannot be repeated, so ask the socket too: the loop may not have reported its end yet."""
        if connection.closed or asyncio.get_running_loop().time() > connection.deadline:
            return False
        return not (write and connection.has_unread_input())

    async def _acquire(self, write: bool, *, fresh: bool = False) -> Connection:
        try:
            async with asyncio.timeout(self._connect_timeout):
                while True:
                    connection = await self._idle_or_slot()
                    if connection is None:
                        return await self._open()
                    if not fresh and self._is_usable(connection, write):
                        return connection
                    connection.drop()
        except (OSError, TimeoutError) as error:
            raise NotReached(f"no connection: {type(error).__name__}") from error

    async def _idle_or_slot(self) -> Connection | None:
        """None is a free slot: open a connection."""
        if self._closed:
            raise NotReached("the pool is closed")
        if self._slots.take_slot():
            return None
        if self._slots.waiting >= self._max_waiting:
            raise NotReached("too many requests wait for a connection")
        return await self._slots.wait()

    async def _open(self) -> Connection:
        connection = Connection(self._on_finished, self._on_lost)
        try:
            await self._address.connect(connection, self._connect_timeout)
        except BaseException:
            connection.drop()
            raise
        if connection.closed:  # the peer sent something or hung up before our request
            raise ConnectionError("the peer did not wait for a request")
        now = asyncio.get_running_loop().time()
        connection.deadline = now + self._idle_limit
        self._live[connection] = now + self._max_age * random.uniform(0.8, 1.2)  # not all at once
        if self._closed:
            connection.drop()
            raise NotReached("the pool is closed")
        if self._sweeper is None:
            self._sweep()
        return connection

    # -- releasing it

    def _on_finished(self, connection: Connection) -> None:
        connection.deadline = asyncio.get_running_loop().time() + self._idle_limit
        self._slots.release(connection)

    def _on_lost(self, connection: Connection) -> None:
        self._live.pop(connection, None)
        with suppress(ValueError):
            self._slots.idle.remove(connection)
        self._slots.release(None)

    def _drop_idle(self) -> None:
        for connection in list(self._slots.idle):
            connection.drop()

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection, expires in list(self._live.items()):
            if connection.is_overdue(now, self._read_timeout):
                if connection.busy:
                    self._drop_idle()  # a host that vanished leaves every connection to it open
                connection.drop(OutcomeUnknown("the service did not answer in time"))
            elif now > expires and connection.busy:
                connection.retiring = True
            elif now > expires:
                connection.drop()
        self._sweeper = loop.call_later(self._tick, self._sweep) if self._live else None
