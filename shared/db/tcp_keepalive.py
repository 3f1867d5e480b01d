"""A connection that notices when the database's machine has disappeared without closing it.

The role's settings (shared/db/role.py) do the same on the server's side. asyncpg has no setting for it, but
gives a connection class its transport.
"""

import asyncio
import socket
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

if TYPE_CHECKING:
    _Connection: TypeAlias = asyncpg.Connection[Any]
else:
    _Connection = asyncpg.Connection

# An idle connection is lost after 10 + 4 * 3 s without an answer, one that waits for an answer after 20 s.
# By name, because not every system has all of them.
TCP_OPTIONS = {
    "TCP_KEEPIDLE": 10,
    "TCP_KEEPINTVL": 3,
    "TCP_KEEPCNT": 4,
    "TCP_USER_TIMEOUT": 20_000,
}


class KeepaliveConnection(_Connection):
    __slots__ = ()

    def __init__(self, protocol: Any, transport: asyncio.Transport, *others: Any) -> None:
        super().__init__(protocol, transport, *others)
        keep_alive(transport.get_extra_info("socket"))


def keep_alive(connection: socket.socket) -> None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in TCP_OPTIONS.items():
        if (option := getattr(socket, name, None)) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
