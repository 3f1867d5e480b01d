"""Keep-alive connections to one service, as many as its answers need at once."""

import asyncio
import random
from collections import deque
from contextlib import suppress

from services.gateway.upstream.answer import Headers, NotReached, OutcomeUnknown, UpstreamAnswer
from services.gateway.upstream.connection import ClosedBeforeAnswer, Connection
from services.gateway.upstream.dial import Address
from services.gateway.upstream.request_head import WRITES, request_head


class HttpUpstream:
    """Forwards to `http://host:port` or `unix:/path`. A write is never sent twice.

    `idle_limit` stays below the server's keep-alive (uvicorn 5 s, granian 30 s): we must be first to close.
    After `max_age` a connection is replaced, or a service's new replicas would never see a busy gateway.
    Time limits are checked by a sweep, and so are met up to a tenth late.
    """

    def __init__(
        self,
        address: str,
        *,
        connect_timeout: float = 1.0,
        answer_timeout: float = 10.0,
        read_timeout: float = 5.0,
        max_connections: int = 128,
        max_waiting: int = 1024,
        idle_limit: float = 4.0,
        max_age: float = 60.0,
    ) -> None:
        self._address = Address.parse(address)
        self._connect_timeout = connect_timeout
        self._answer_timeout = answer_timeout
        self._read_timeout = read_timeout
        self._tick = max(0.01, min(answer_timeout, read_timeout, idle_limit) / 10)
        self._idle_limit = idle_limit
        self._max_age = max_age
        self._max_waiting = max_waiting
        self._free_slots = max_connections
        self._live: dict[Connection, float] = {}  # each with the time from which it is too old
        self._idle: list[Connection] = []  # the last one back is the first one out: the rest grow old and go
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()  # None grants a slot to open one
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    async def request(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> UpstreamAnswer:
        request = request_head(method, target, self._address.host_header, headers, body) + body
        write = method in WRITES
        connection = self._take_idle(write) or await self._acquire(write)
        try:
            return await self._exchange(connection, method, request)
        except ClosedBeforeAnswer:
            if write or not connection.reused:
                raise
        self._drop_idle()  # its neighbours are of the same age
        return await self._exchange(await self._acquire(write, fresh=True), method, request)

    async def close(self) -> None:
        self._closed = True
        while self._waiting:
            self._grant(None)
        for connection in list(self._live):
            connection.drop()
        if self._sweeper is not None:
            self._sweeper.cancel()

    async def _exchange(self, connection: Connection, method: bytes, request: bytes) -> UpstreamAnswer:
        waiter = connection.send(request, self._answer_timeout, head_only=method == b"HEAD")
        try:
            return await waiter
        except asyncio.CancelledError:
            connection.abandon(waiter)
            raise

    # -- having a connection

    def _take_idle(self, write: bool) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if self._is_fit(connection, write):
                return connection
            connection.drop()
        return None

    def _is_fit(self, connection: Connection, write: bool) -> bool:
        """A write can't be repeated: ask the socket itself, whose end the loop may not have told yet."""
        if connection.closed or asyncio.get_running_loop().time() > connection.deadline:
            return False
        return not (write and connection.is_stirred())

    async def _acquire(self, write: bool, *, fresh: bool = False) -> Connection:
        try:
            async with asyncio.timeout(self._connect_timeout):
                while True:
                    connection = await self._wait_turn()
                    if connection is None:
                        return await self._open()
                    if not fresh and self._is_fit(connection, write):
                        return connection
                    connection.drop()
        except (OSError, TimeoutError) as error:
            raise NotReached(f"no connection: {type(error).__name__}") from error

    async def _wait_turn(self) -> Connection | None:
        if self._closed:
            raise NotReached("the pool is closed")
        if self._free_slots:
            self._free_slots -= 1
            return None
        if len(self._waiting) >= self._max_waiting:
            raise NotReached("too many requests wait for a connection")
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                with suppress(ValueError):
                    self._waiting.remove(turn)
            else:  # the turn came in the same moment: it is the next one's
                self._grant(turn.result())
            raise

    async def _open(self) -> Connection:
        connection = Connection(self._on_finished, self._on_lost)
        try:
            await self._address.connect(connection, self._connect_timeout)
        except BaseException:
            connection.drop()
            raise
        if connection.closed:  # a peer that speaks first, or hangs up, was heard before we were
            raise ConnectionError("the peer did not wait for a request")
        now = asyncio.get_running_loop().time()
        connection.deadline = now + self._idle_limit
        self._live[connection] = now + self._max_age * random.uniform(0.8, 1.2)  # not all in one moment
        if self._closed:
            connection.drop()
            raise NotReached("the pool is closed")
        if self._sweeper is None:
            self._sweep()
        return connection

    # -- giving it back

    def _grant(self, connection: Connection | None) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return
        if connection is None:
            self._free_slots += 1
        else:
            self._idle.append(connection)

    def _on_finished(self, connection: Connection) -> None:
        connection.deadline = asyncio.get_running_loop().time() + self._idle_limit
        self._grant(connection)

    def _on_lost(self, connection: Connection) -> None:
        self._live.pop(connection, None)
        with suppress(ValueError):
            self._idle.remove(connection)
        self._grant(None)

    def _drop_idle(self) -> None:
        for connection in list(self._idle):
            connection.drop()

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection, old_from in list(self._live.items()):
            if connection.is_overdue(now, self._read_timeout):
                if connection.busy:
                    self._drop_idle()  # a host that went without a word leaves every connection to it open
                connection.drop(OutcomeUnknown("the service did not answer in time"))
            elif now > old_from and connection.busy:
                connection.retiring = True
            elif now > old_from:
                connection.drop()
        self._sweeper = loop.call_later(self._tick, self._sweep) if self._live else None
