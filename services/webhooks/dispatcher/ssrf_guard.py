"""The fence against server-side request forgery. It sits on the socket: every address, literals included.

A name is resolved once, all its addresses are checked, and the connection is made to those very addresses: a
name that changes its answer later changes nothing. aiohttp asks a resolver for names only, so the socket
factory, which sees every address that is about to be connected to, checks again.
"""

import socket

from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from services.webhooks.rules.addresses import is_forbidden


class ForbiddenAddress(OSError):
    """Nothing was sent: the address is private, local or reserved."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address} is a private, local or reserved address")
        self.address = address


class GuardedResolver(AbstractResolver):
    """One forbidden address among many refuses the name: a mixed answer is how rebinding tries its luck."""

    def __init__(self, inner: AbstractResolver | None = None) -> None:
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for result in found:
            if is_forbidden(result["host"]):
                raise ForbiddenAddress(result["host"])
        return found

    async def close(self) -> None:
        await self._inner.close()


def guarded_socket(addr_info: AddrInfoType) -> socket.socket:
    """Called with the address that is about to be connected to."""
    family, kind, proto, _, address = addr_info
    if family not in (socket.AF_INET, socket.AF_INET6) or is_forbidden(str(address[0])):
        raise ForbiddenAddress(str(address[0]))
    return socket.socket(family, kind, proto)
