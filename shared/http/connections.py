"""The limits on connections of our ports, kept from beside: nothing of this lies on a request's way.

granian knows no limit per address and none for slow readers, and a full one stops accepting, health checks
included. But its sockets are file descriptors of this process. So twice a second we ask the kernel what it
knows of each, and shut down those that break a rule. Linux only.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

import structlog
from msgspec import Struct

from shared.http.client_address import TrustedProxies, network_of
from shared.http.open_sockets import close_socket, endpoints_of, open_sockets, set_send_buffer, tcp_info
from shared.observability.metrics import CONNECTIONS, CONNECTIONS_CLOSED

log = structlog.get_logger("serve")

SWEEP_SECONDS: Final = 0.5
# So many are looked at before requests get their turn again: about a millisecond.
SWEEP_CHUNK: Final = 200
# Of the time, however many connections there are.
MAX_SHARE: Final = 0.03
# Somebody over the limit may send a request in this time, and reads why it is refused.
REFUSAL_SECONDS: Final = 1.0


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Of one port. Above `max_connections` silent and idle ones are closed, then the newest refused."""

    max_connections: int = 4096
    max_per_address: int | None = None
    silent_seconds: float = 10.0  # until the first byte
    idle_seconds: float | None = None  # without a byte in either direction
    unread_seconds: float = 10.0  # for a reader to take `min_read_rate` bytes a second
    min_read_rate: int = 4096
    send_buffer: int = 128 * 1024  # the kernel doubles it
    trusted: TrustedProxies = TrustedProxies()

    @property
    def accepted(self) -> int:
        """What the server takes: room for health checks, and for those whom we tell that we are full."""
        return self.max_connections + self.max_connections // 4 + 64


class Connection(Struct, eq=False):
    fd: int
    inode: int
    port: int
    address: str
    client: tuple[str, str]  # as a request's scope names it
    since: float
    quiet: float = 0.0  # seconds without a byte from there
    received: int = 0
    unread_since: float | None = None  # since when something waits to be read
    acked_before: int = 0
    refused_since: float | None = None


class ConnectionGuard:
    def __init__(self, limits: Mapping[int, ConnectionLimits]) -> None:
        self._limits = limits
        self._known: dict[int, tuple[int, Connection | None]] = {}
        self._refused: frozenset[tuple[int, tuple[str, str]]] = frozenset()
        self._full: dict[int, frozenset[tuple[str, str]]] = {}
        self._spent = 0.0
        self.over_limit = False

    def refuses(self, port: int, client: object) -> bool:
        """Whether this connection is one too many. Asked only while `over_limit`."""
        if (port, client) in self._refused:
            return True
        # Who came since the last look into a full house is new.
        return port in self._full and client not in self._full[port]

    async def watch(self) -> None:
        if sys.platform != "linux":
            log.warning("connections_not_watched", reason="this system does not tell what a socket waits for")
            return
        while True:
            try:
                await self.sweep()
            except Exception as problem:
                log.error("connections_sweep_failed", exc_info=problem)
            await asyncio.sleep(max(SWEEP_SECONDS, self._spent / MAX_SHARE))

    async def sweep(self) -> None:
        """One look at every connection."""
        spent, started = 0.0, time.thread_time()
        live: list[Connection] = []
        known: dict[int, tuple[int, Connection | None]] = {}
        for count, (fd, inode) in enumerate(open_sockets()):
            if count % SWEEP_CHUNK == SWEEP_CHUNK - 1:
                spent += time.thread_time() - started
                await asyncio.sleep(0)
                started = time.thread_time()
            seen = self._known.get(fd)
            if seen is None or seen[0] != inode:
                seen = (inode, self._inspect(fd, inode))
            known[fd] = seen
            if (connection := seen[1]) is not None:
                why = self._update(connection, time.monotonic())
                if why is None:
                    live.append(connection)
                elif why:
                    _close(connection, why)
        self._known = known
        self._enforce_limits(live)
        self._spent = spent + time.thread_time() - started

    def _inspect(self, fd: int, inode: int) -> Connection | None:
        ends = endpoints_of(fd)
        if ends is None or ends.port not in self._limits:
            return None
        if ends.peer is None:
            # Connections inherit it. Left to itself, a buffer grows to 4 MB of a slow reader's answer.
            set_send_buffer(fd, self._limits[ends.port].send_buffer)
            return None
        return Connection(fd, inode, ends.port, network_of(ends.peer[0]), ends.peer, time.monotonic())

    def _update(self, connection: Connection, now: float) -> str | None:
        """None while it may stay, "" where it has gone, else why it has to go."""
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

    def _enforce_limits(self, live: list[Connection]) -> None:
        refused: list[Connection] = []
        self._full = {}
        for port, limits in self._limits.items():
            here = [connection for connection in live if connection.port == port]
            CONNECTIONS.labels(str(port)).set(len(here))
            over: set[Connection] = set()
            if limits.max_per_address is not None and len(here) > limits.max_per_address:
                counts = Counter(connection.address for connection in here)
                for address, count in counts.items():
                    if count > limits.max_per_address:
                        theirs = [one for one in here if one.address == address]
                        if not limits.trusted.trusts(theirs[0].client[0]):
                            over.update(_surplus(theirs, count - limits.max_per_address))
            left = _close_silent([one for one in here if one not in over], limits.max_connections)
            if len(left) >= limits.max_connections:
                surplus = set(_surplus(left, len(left) - limits.max_connections))
                over |= surplus
                self._full[port] = frozenset(one.client for one in left if one not in surplus)
            refused += over
        self._refuse(refused)

    def _refuse(self, refused: list[Connection]) -> None:
        now = time.monotonic()
        for connection in refused:
            if not connection.received:
                _close(connection, "one too many")
            elif connection.refused_since is None:
                connection.refused_since = now
            elif now - connection.refused_since > REFUSAL_SECONDS:
                _close(connection, "one too many")
        self._refused = frozenset((connection.port, connection.client) for connection in refused)
        self.over_limit = bool(self._refused or self._full)


def _close_silent(connections: list[Connection], most: int) -> list[Connection]:
    """Before a house is full, those who have not sent a byte make room for those who may."""
    too_many = len(connections) - most * 9 // 10
    if too_many <= 0:
        return connections
    silent = [
        one for one in connections if not one.received and time.monotonic() - one.since > REFUSAL_SECONDS
    ]
    gone = set(sorted(silent, key=lambda one: one.since)[:too_many])
    for connection in gone:
        _close(connection, "silent")
    return [one for one in connections if one not in gone]


def _surplus(connections: list[Connection], count: int) -> list[Connection]:
    """Those who never sent a byte first, then the quiet ones, then the newest."""
    worst = sorted(connections, key=lambda one: (one.received > 0, -int(one.quiet / 5), -one.since))
    return worst[:count]


def _close(connection: Connection, why: str) -> None:
    if close_socket(connection.fd, connection.inode):
        CONNECTIONS_CLOSED.labels(why).inc()
