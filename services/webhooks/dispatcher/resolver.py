"""DNS lookups that a slow name server can only make slow for its own tenant.

`getaddrinfo` holds a thread for as long as a name's servers do not answer, and there are only so many. c-ares
(aiodns) asks the name servers of /etc/resolv.conf itself, after /etc/hosts: 2,000 names that hang cost it two
sockets and 10 MB. So there is no limit in all that hanging names of many tenants could use up.
"""

import asyncio
import socket
from contextvars import ContextVar
from weakref import WeakValueDictionary

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import AsyncResolver

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
