"""DNS lookups that a slow name server can only make slow for its own tenant.

`getaddrinfo` holds a thread for as long as a name's servers do not answer, and there are only so many. c-ares
(aiodns) asks the name servers of /etc/resolv.conf itself, after /etc/hosts: 2,000 names that hang cost it two
sockets and 10 MB. So there is no limit in all that hanging names of many tenants could use up.

Protection against server-side request forgery (SSRF) is applied to every socket: a name is resolved once, all
its addresses are checked, and the connection goes to one of exactly those addresses, so DNS rebinding has no
effect. aiohttp does not call a resolver for IP literals. The socket factory sees every address, so it checks
again.
"""

import asyncio
import socket
from contextvars import ContextVar
from weakref import WeakValueDictionary

from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import AsyncResolver

from services.webhooks.rules.urls import is_forbidden

LOOKUP_TIMEOUT = 5.0
# So that a tenant whose names hang does not flood the name servers.
MAX_LOOKUPS_PER_TENANT = 16
# c-ares asks again after 250 ms at a server that is fast otherwise, and doubles that. With its own three
# tries, a name that needs two seconds could not be resolved.
FIRST_TRY = 0.25
TRIES = 6

# Set by the sender. aiohttp does not pass anything but the host to a resolver.
lookup_tenant: ContextVar[str] = ContextVar("lookup_tenant", default="")


class FairResolver(AbstractResolver):
    """A lookup over its tenant's limit waits, which does not count towards its timeout."""

    def __init__(self, *, timeout: float = LOOKUP_TIMEOUT) -> None:
        self._names = AsyncResolver(timeout=FIRST_TRY, tries=TRIES)
        self._timeout = timeout
        self._tenants: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        free = self._tenants.setdefault(lookup_tenant.get(), asyncio.Semaphore(MAX_LOOKUPS_PER_TENANT))
        async with free:
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._names.resolve(host, port, family)
            except TimeoutError:
                raise OSError(f"the lookup of {host} timed out") from None

    async def close(self) -> None:
        await self._names.close()


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
