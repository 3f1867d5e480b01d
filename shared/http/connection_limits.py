"""Connection limits of a port. A sweep enforces them, so a request costs nothing more."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from heapq import nlargest
from operator import attrgetter, itemgetter
from typing import Final

import structlog
from msgspec import Struct

from shared.http.asgi import Scope
from shared.http.client_address import TrustedProxies, network_of
from shared.http.http1 import CONNECTION, Connection
from shared.observability.metrics import CONNECTIONS, CONNECTIONS_CLOSED

log = structlog.get_logger("serve")

SWEEP_SECONDS: Final = 0.5
# Connections that are looked at before the sweep makes room for requests, a tenth of a millisecond, and for
# how long. A request takes a few turns of the event loop, so it must not meet a part of a sweep at each.
SWEEP_CHUNK: Final = 100
CHUNK_PAUSE: Final = 0.002
# Of those that broke a rule, in a sweep: an attacker comes back, and thousands at once would hold up others.
MOST_CLOSED: Final = 50
# From the end of one request to the end of the next one's head.
HEAD_SECONDS: Final = 30.0
# A client over the limit has this long to send a request and read why it is refused.
REFUSAL_SECONDS: Final = 1.0


def mark_authenticated(scope: Scope) -> None:
    """The connection of this request stays when the port is full."""
    if (connection := scope.get(CONNECTION)) is not None:
        connection.authenticated = True


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Limits of one port.

    Near `max_connections` silent connections are closed. Once it is reached, the addresses that have most
    connections lose some. One that has authenticated stays: if there are only such, new ones are refused.
    """

    max_connections: int = 4096
    max_per_address: int | None = None
    silent_seconds: float = 10.0  # to send the first byte
    unread_seconds: float = 10.0  # window in which a reader must average `min_read_rate` bytes a second
    min_read_rate: int = 4096
    send_buffer: int = 128 * 1024  # the kernel doubles it
    trusted: TrustedProxies = TrustedProxies()

    @property
    def accepted(self) -> int:
        """What the server accepts: leaves room for health checks and for clients that get a 503."""
        return self.max_connections + self.max_connections // 4 + 64


class ConnectionGuard:
    """Of one port."""

    def __init__(self, port: int, limits: ConnectionLimits) -> None:
        self._port, self._limits = port, limits
        self._unread: dict[Connection, tuple[float, int]] = {}  # since when, and how much was read by then
        self._refused_since: dict[Connection, float] = {}
        self._by_address: defaultdict[str, set[Connection]] = defaultdict(set)
        self._full = False
        self._empty = asyncio.Event()
        self.connections: set[Connection] = set()
        self.crowded = False

    def opened(self, connection: Connection) -> None:
        if not self._limits.trusted.trusts(connection.client[0]):
            connection.client_address = connection.address
        self.connections.add(connection)
        self._by_address[connection.address].add(connection)
        if len(self.connections) > self._limits.accepted:
            connection.reset()
        elif self._full:  # any client that the last sweep did not see is over the limit
            connection.refused = True
            self._refused_since[connection] = connection.since

    def closed(self, connection: Connection) -> None:
        self.connections.discard(connection)
        theirs = self._by_address[connection.address]
        theirs.discard(connection)
        if not theirs:
            del self._by_address[connection.address]
        self._unread.pop(connection, None)
        self._refused_since.pop(connection, None)
        if not self.connections:
            self._empty.set()

    async def close_all(self, seconds: float) -> None:
        """A client that never reads its response is not waited for."""
        for connection in list(self.connections):
            connection.transport.close()
        self._empty.clear()
        if self.connections:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._empty.wait(), seconds)
        for connection in list(self.connections):
            connection.reset()

    def note_address(self, connection: Connection, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Behind a proxy every connection has the proxy's address. Called only while `crowded`."""
        trusted, peer = self._limits.trusted, connection.client[0]
        if trusted.trusts(peer):
            connection.client_address = network_of(trusted.client_of(peer, dict(headers)))

    async def watch(self) -> None:
        while True:
            try:
                await self.sweep()
            except Exception as problem:
                log.error("connections_sweep_failed", exc_info=problem)
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Looks at every connection once."""
        closed = 0
        for number, connection in enumerate(list(self.connections), start=1):
            if connection.lost or closed == MOST_CLOSED:
                pass
            elif why := self._broken_rule(connection):
                closed += 1
                self._close(connection, why)
            if number % SWEEP_CHUNK == 0:
                await asyncio.sleep(CHUNK_PAUSE)
        for connection, why in self._over_limit():
            self._close(connection, why)

    def _broken_rule(self, connection: Connection) -> str | None:
        limits, now = self._limits, asyncio.get_running_loop().time()
        if not connection.received:
            return "silent" if now - connection.since > limits.silent_seconds else None
        if not connection.unsent:
            self._unread.pop(connection, None)
            return "idle" if not connection.busy and now - connection.waiting_since > HEAD_SECONDS else None
        read = connection.sent - connection.unsent
        since, read_before = self._unread.setdefault(connection, (now, read))
        if now - since > limits.unread_seconds:
            if read - read_before < limits.min_read_rate * (now - since):
                return "reads too slowly"
            self._unread[connection] = (now, read)
        return None

    def _close(self, connection: Connection, why: str) -> None:
        CONNECTIONS_CLOSED.labels(why).inc()
        if why == "idle":  # the kernel may still be sending its last response
            connection.transport.close()
        else:
            connection.reset()

    def _over_limit(self) -> list[tuple[Connection, str]]:
        """Which connections to close, and why. Notes which ones get a refusal first."""
        limits, count = self._limits, len(self.connections)
        CONNECTIONS.labels(str(self._port)).set(count)
        over = self._over_address_limit()
        gone: set[Connection] = set()
        self._full = False
        # Most ports are never that full: they are not sorted.
        if count - len(over) > limits.max_connections * 9 // 10:
            left = [one for one in self.connections if one not in over]
            gone = _silent_surplus(left, limits.max_connections)
            left = _without(left, gone)
            if len(left) >= limits.max_connections:
                shed = _largest_shares(left, len(left) - limits.max_connections * 9 // 10)
                over |= shed
                left = _without(left, shed)
            self._full = len(left) >= limits.max_connections
            if self._full:
                over.update(_surplus(left, len(left) - limits.max_connections))
        self.crowded = bool(over) or 2 * count >= limits.max_connections
        return [(one, "silent") for one in gone] + [(one, "one too many") for one in self._refuse(over)]

    def _over_address_limit(self) -> set[Connection]:
        most, over = self._limits.max_per_address, set[Connection]()
        if most is not None and len(self.connections) > most:
            for theirs in self._by_address.values():
                if len(theirs) > most and not self._limits.trusted.trusts(next(iter(theirs)).client[0]):
                    over.update(_surplus(theirs, len(theirs) - most))
        return over

    def _refuse(self, over: set[Connection]) -> list[Connection]:
        """Those to close: a client that has sent something has time to read why."""
        now = asyncio.get_running_loop().time()
        before, self._refused_since = self._refused_since, {}
        for connection in before.keys() - over:
            connection.refused = False
        for connection in over:
            connection.refused = True
            self._refused_since[connection] = before.get(connection, now)
        return [
            one
            for one, since in self._refused_since.items()
            if not one.received or now - since > REFUSAL_SECONDS
        ]


def _without(connections: list[Connection], some: set[Connection]) -> list[Connection]:
    return [one for one in connections if one not in some] if some else connections


def _silent_surplus(connections: list[Connection], most: int) -> set[Connection]:
    """At 90 % of the limit, the oldest connections that have not sent a byte make room."""
    too_many = len(connections) - most * 9 // 10
    if too_many <= 0:
        return set()
    now = asyncio.get_running_loop().time()
    silent = [one for one in connections if not one.received and now - one.since > REFUSAL_SECONDS]
    return set(sorted(silent, key=attrgetter("since"))[:too_many])


def _largest_shares(connections: list[Connection], count: int) -> set[Connection]:
    """One after the other of the address that has most, without those that have authenticated."""
    shares: defaultdict[str, list[Connection]] = defaultdict(list)
    others = [one for one in connections if one.client_address and not one.authenticated]
    for one in _surplus(others, len(others)):
        shares[one.client_address].append(one)
    # The first of ten is shed before the first of nine, because its address then still has more.
    heights = [(len(theirs) - index, one) for theirs in shares.values() for index, one in enumerate(theirs)]
    return {one for _, one in nlargest(count, heights, key=itemgetter(0))}


def _surplus(connections: Iterable[Connection], count: int) -> list[Connection]:
    """The least are given up first: those that never sent a byte, for longest, then those that did not
    authenticate, the quietest, the newest."""
    now = asyncio.get_running_loop().time()

    def rank(one: Connection) -> tuple[bool, bool, int, float]:
        age = -one.since if one.received else one.since  # a new one may be about to send its first byte
        return one.received, one.authenticated, -int((now - one.last_byte) / 5), age

    return sorted(connections, key=rank)[:count]
