"""Connection limits per port, enforced by a background sweep. It adds nothing to a request's path.

granian has no limit per address and none for slow readers, and at its own limit it stops accepting, health
checks included. But its sockets are file descriptors of this process. So twice a second we read the kernel's
TCP statistics for each one and close those that break a limit. Linux only.
"""

import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from heapq import nlargest
from operator import attrgetter, itemgetter
from typing import Any, Final

import structlog
from msgspec import Struct

from shared.http.client_address import TrustedProxies, network_of
from shared.http.open_sockets import close_socket, endpoints_of, open_sockets, set_send_buffer, tcp_info
from shared.observability.metrics import CONNECTIONS, CONNECTIONS_CLOSED

log = structlog.get_logger("serve")

SWEEP_SECONDS: Final = 0.5
# Sockets inspected or closed before the sweep makes room for requests, about a third of a millisecond, and
# for how long. A request takes about ten chunks of the event loop, so it must not meet a chunk at each.
SWEEP_CHUNK: Final = 25
CHUNK_PAUSE: Final = 0.002
# Upper bounds on the share of CPU time that sweeps take, however many connections there are: most limits are
# of ten seconds, but a crowded port has to make room.
MAX_SHARE: Final = 0.01
MAX_CROWDED_SHARE: Final = 0.03
# In a request's scope: the set of clients that have authenticated.
AUTHENTICATED: Final = "studio.authenticated"
# A client over the limit has this long to send a request and read why it is refused.
REFUSAL_SECONDS: Final = 1.0


def mark_authenticated(scope: Any) -> None:
    """The connection of this request stays when the port is full."""
    clients = scope.get(AUTHENTICATED)
    if clients is not None:
        clients.add(scope["client"])


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Limits of one port.

    Near `max_connections` silent connections are closed. Once it is reached, the addresses that have most
    connections lose some. One that has authenticated stays: if there are only such, new ones are refused.
    """

    max_connections: int = 4096
    max_per_address: int | None = None
    silent_seconds: float = 10.0  # to send the first byte
    idle_seconds: float | None = None  # without a byte in either direction
    unread_seconds: float = 10.0  # window in which a reader must average `min_read_rate` bytes a second
    min_read_rate: int = 4096
    send_buffer: int = 128 * 1024  # the kernel doubles it
    trusted: TrustedProxies = TrustedProxies()

    @property
    def accepted(self) -> int:
        """What the server accepts: leaves room for health checks and for clients that get a 503."""
        return self.max_connections + self.max_connections // 4 + 64


class Connection(Struct, eq=False):
    fd: int
    inode: int
    port: int
    address: str
    client: tuple[str, str]  # the form in a request's ASGI scope
    since: float
    quiet: float = 0.0  # seconds since the peer's last byte
    received: int = 0
    unread_since: float | None = None  # since when sent data is unacknowledged
    acked_before: int = 0
    refused_since: float | None = None
    client_address: str = ""  # `address`, or behind a trusted proxy what it says, if anything yet
    authenticated: bool = False
    # The least are given up first: those that never sent a byte, then those that did not authenticate, the
    # quietest, the newest.
    rank: tuple[bool, bool, int, float] = (False, False, 0, 0.0)


class ConnectionGuard:
    def __init__(self, limits: Mapping[int, ConnectionLimits]) -> None:
        self._limits = limits
        self._known: dict[int, tuple[int, Connection | None]] = {}
        self._refused: frozenset[tuple[int, tuple[str, str]]] = frozenset()
        self._full: dict[int, frozenset[tuple[str, str]]] = {}
        self._spent = 0.0
        self._forwarded: dict[object, str] = {}
        self.authenticated: set[object] = set()
        self.crowded = False
        self.over_limit = False

    def refuses(self, port: int, client: object) -> bool:
        """Whether this connection exceeds a limit. Called only while `over_limit`."""
        if (port, client) in self._refused:
            return True
        # The port is full: any client that the last sweep did not see is new, and over the limit.
        return port in self._full and client not in self._full[port]

    def note_address(self, port: int, client: Any, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Behind a proxy every connection has the proxy's address. Called only while `crowded`."""
        trusted = self._limits[port].trusted
        if client and trusted.trusts(client[0]):
            self._forwarded[client] = network_of(trusted.client_of(client[0], dict(headers)))

    async def watch(self) -> None:
        if sys.platform != "linux":
            log.warning("connections_not_watched", reason="this platform reports no TCP socket statistics")
            return
        while True:
            try:
                await self.sweep()
            except Exception as problem:
                log.error("connections_sweep_failed", exc_info=problem)
            share = MAX_CROWDED_SHARE if self.crowded else MAX_SHARE
            await asyncio.sleep(max(SWEEP_SECONDS, self._spent / share))

    async def sweep(self) -> None:
        """Inspects every connection once."""
        chunks = _Chunks()
        # Running requests hold the set, so it stays the same object.
        authenticated, forwarded = self.authenticated.copy(), self._forwarded.copy()
        self.authenticated.clear()
        self._forwarded.clear()
        live: dict[int, list[Connection]] = {port: [] for port in self._limits}
        known: dict[int, tuple[int, Connection | None]] = {}
        for fd, inode in open_sockets():
            await chunks.next()
            seen = self._known.get(fd)
            if seen is None or seen[0] != inode:
                seen = (inode, self._inspect(fd, inode))
            known[fd] = seen
            if (connection := seen[1]) is not None:
                why = self._update(connection, time.monotonic())
                if why is None:
                    connection.authenticated |= connection.client in authenticated
                    connection.client_address = forwarded.get(connection.client, connection.client_address)
                    connection.rank = _rank(connection)
                    live[connection.port].append(connection)
                elif why:
                    _close(connection, why)
        self._known = known
        for connection, why in self._over_limit(live):
            await chunks.next()
            # A sweep takes a while. A client that has sent its first request meanwhile stays for now.
            if connection.received or not _has_sent(connection):
                _close(connection, why)
        self._spent = chunks.spent

    def _inspect(self, fd: int, inode: int) -> Connection | None:
        ends = endpoints_of(fd)
        if ends is None or ends.port not in self._limits:
            return None
        if ends.peer is None:
            # Connections inherit it. By default the kernel buffers up to 4 MB for a slow reader.
            set_send_buffer(fd, self._limits[ends.port].send_buffer)
            return None
        address = network_of(ends.peer[0])
        client_address = "" if self._limits[ends.port].trusted.trusts(ends.peer[0]) else address
        return Connection(
            fd, inode, ends.port, address, ends.peer, time.monotonic(), client_address=client_address
        )

    def _update(self, connection: Connection, now: float) -> str | None:
        """None to keep the connection, "" if it is already closed, else the reason to close it."""
        facts = tcp_info(connection.fd)
        if facts is None:
            return ""
        limits = self._limits[connection.port]
        connection.quiet, connection.received = facts.quiet, facts.received
        if not facts.received:
            return "silent" if now - connection.since > limits.silent_seconds else None
        if not facts.waiting:
            connection.unread_since = None
            return "idle" if limits.idle_seconds and facts.idle > limits.idle_seconds else None
        if connection.unread_since is None:
            connection.unread_since, connection.acked_before = now, facts.acked
        elif (waited := now - connection.unread_since) > limits.unread_seconds:
            if facts.acked - connection.acked_before < limits.min_read_rate * waited:
                return "reads too slowly"
            connection.unread_since, connection.acked_before = now, facts.acked
        return None

    def _over_limit(self, live: Mapping[int, list[Connection]]) -> list[tuple[Connection, str]]:
        """Which connections to close, and why. Notes which ones get a refusal first."""
        refused: list[Connection] = []
        to_close: list[tuple[Connection, str]] = []
        self._full = {}
        self.crowded = False
        for port, limits in self._limits.items():
            here = live[port]
            CONNECTIONS.labels(str(port)).set(len(here))
            self.crowded |= 2 * len(here) >= limits.max_connections
            over: set[Connection] = set()
            if limits.max_per_address is not None and len(here) > limits.max_per_address:
                counts = Counter(map(attrgetter("address"), here))
                for address, count in counts.items():
                    if count > limits.max_per_address:
                        theirs = [one for one in here if one.address == address]
                        if not limits.trusted.trusts(theirs[0].client[0]):
                            over.update(_surplus(theirs, count - limits.max_per_address))
            left = _without(here, over)
            gone = _silent_surplus(left, limits.max_connections)
            to_close += [(one, "silent") for one in gone]
            left = _without(left, gone)
            if len(left) >= limits.max_connections:
                shed = _largest_shares(left, len(left) - limits.max_connections * 9 // 10)
                over |= shed
                left = _without(left, shed)
            if len(left) >= limits.max_connections:
                surplus = set(_surplus(left, len(left) - limits.max_connections))
                over |= surplus
                self._full[port] = frozenset(one.client for one in left if one not in surplus)
            refused += over
        return to_close + [(one, "one too many") for one in self._refuse(refused)]

    def _refuse(self, refused: list[Connection]) -> list[Connection]:
        """Those to close: a client that has sent something has time to read why."""
        self._refused = frozenset((connection.port, connection.client) for connection in refused)
        self.over_limit = bool(self._refused or self._full)
        self.crowded |= self.over_limit
        now = time.monotonic()
        for connection in refused:
            connection.refused_since = connection.refused_since or now
        return [
            one for one in refused if not one.received or now - (one.refused_since or now) > REFUSAL_SECONDS
        ]


class _Chunks:
    """Divides a sweep into chunks. `spent` is their CPU time."""

    def __init__(self) -> None:
        self._ended = 0.0
        self._count = 0
        self._started = time.thread_time()

    @property
    def spent(self) -> float:
        return self._ended + time.thread_time() - self._started

    async def next(self) -> None:
        self._count += 1
        if self._count % SWEEP_CHUNK == 0:
            self._ended = self.spent
            await asyncio.sleep(CHUNK_PAUSE)
            self._started = time.thread_time()


def _without(connections: list[Connection], some: set[Connection]) -> list[Connection]:
    return [one for one in connections if one not in some] if some else connections


def _silent_surplus(connections: list[Connection], most: int) -> set[Connection]:
    """At 90 % of the limit, the oldest connections that have not sent a byte make room."""
    too_many = len(connections) - most * 9 // 10
    if too_many <= 0:
        return set()
    silent = [
        one for one in connections if not one.received and time.monotonic() - one.since > REFUSAL_SECONDS
    ]
    return set(sorted(silent, key=lambda one: one.since)[:too_many])


def _largest_shares(connections: list[Connection], count: int) -> set[Connection]:
    """One after the other of the address that has most, without those that have authenticated."""
    shares: defaultdict[str, list[Connection]] = defaultdict(list)
    others = [one for one in connections if one.client_address and not one.authenticated]
    for one in _surplus(others, len(others)):
        shares[one.client_address].append(one)
    # The first of ten is shed before the first of nine, because its address then still has more.
    heights = [(len(theirs) - index, one) for theirs in shares.values() for index, one in enumerate(theirs)]
    return {one for _, one in nlargest(count, heights, key=itemgetter(0))}


def _rank(one: Connection) -> tuple[bool, bool, int, float]:
    return one.received > 0, one.authenticated, -int(one.quiet / 5), -one.since


def _surplus(connections: list[Connection], count: int) -> list[Connection]:
    return sorted(connections, key=attrgetter("rank"))[:count]


def _has_sent(connection: Connection) -> bool:
    facts = tcp_info(connection.fd)
    return facts is not None and facts.received > 0


def _close(connection: Connection, why: str) -> None:
    if close_socket(connection.fd, connection.inode):
        CONNECTIONS_CLOSED.labels(why).inc()
