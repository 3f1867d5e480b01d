"""Protection against server-side request forgery (SSRF), applied to every socket.

A name is resolved once, all its addresses are checked, and the connection goes to one of exactly those
addresses, so DNS rebinding has no effect. aiohttp does not call a resolver for IP literals. The socket
factory sees every address, so it checks again.
"""

import socket

from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from services.webhooks.rules.addresses import is_forbidden


class ForbiddenAddress(OSError):
    """The address is private, local or reserved. Nothing was sent."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address} is a private, local or reserved address")
        self.address = address


class GuardedResolver(AbstractResolver):
    """Refuses a name if any of its addresses is forbidden: rebinding attacks use mixed answers."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

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
    """aiohttp calls this with the address before it connects."""
    family, kind, proto, _, address = addr_info
    if family not in (socket.AF_INET, socket.AF_INET6) or is_forbidden(str(address[0])):
        raise ForbiddenAddress(str(address[0]))
    return socket.socket(family, kind, proto)
