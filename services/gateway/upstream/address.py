"""A service's address, and connecting to it."""

import asyncio
import random
import socket
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

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
        loop = asyncio.get_running_loop()
        if self.path is not None:
            await loop.create_unix_connection(lambda: protocol, self.path)
            return
        await loop.create_connection(lambda: protocol, sock=await self._connect_to_any(loop, time_limit))

    async def _connect_to_any(self, loop: asyncio.AbstractEventLoop, time_limit: float) -> socket.socket:
        """Resolved each time, in random order: replicas come and go, and share the load."""
        found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        found = random.sample(found, min(len(found), _MAX_ADDRESSES))
        failure: OSError = OSError("the name has no address")
        for family, kind, proto, _, address in found:
            try:
                async with asyncio.timeout(time_limit / len(found)):
                    return await _open_socket(loop, family, kind, proto, address)
            except OSError as error:  # TimeoutError is one
                failure = error
        raise failure


async def _open_socket(
    loop: asyncio.AbstractEventLoop, family: int, kind: int, proto: int, address: Any
) -> socket.socket:
    sock = socket.socket(family, kind, proto)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock
