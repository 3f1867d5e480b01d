"""DNS lookups that a slow name server can only make slow for its own tenant.

`getaddrinfo` cannot be interrupted: a name whose servers never answer holds its thread for many seconds. In
the loop's small default executor, two such names delayed everybody's deliveries by 16 seconds. Here a lookup
has a timeout and a thread of its own: at most one per name, a few per tenant and a fixed number in total.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

LOOKUP_TIMEOUT = 5.0
MAX_LOOKUPS = 128
MAX_LOOKUPS_PER_TENANT = 4

# Set by the sender. aiohttp does not pass anything but the host to a resolver.
lookup_tenant: ContextVar[str] = ContextVar("lookup_tenant", default="")

AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]
LookUp = Callable[[str, socket.AddressFamily], list[AddressInfo]]


def get_addresses(host: str, family: socket.AddressFamily) -> list[AddressInfo]:
    found: Any = socket.getaddrinfo(
        host, 0, type=socket.SOCK_STREAM, family=family, flags=socket.AI_ADDRCONFIG
    )
    return list(found)


class _Slots:
    """A tenant's share of the threads, kept while it uses any."""

    def __init__(self) -> None:
        self.free = asyncio.Semaphore(MAX_LOOKUPS_PER_TENANT)
        self.users = 0


class BoundedResolver(AbstractResolver):
    def __init__(self, look_up: LookUp = get_addresses, *, timeout: float = LOOKUP_TIMEOUT) -> None:
        self._look_up = look_up
        self._timeout = timeout
        self._running: dict[tuple[str, int], asyncio.Future[list[AddressInfo] | OSError]] = {}
        self._free = asyncio.Semaphore(MAX_LOOKUPS)
        self._tenants: dict[str, _Slots] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            async with asyncio.timeout(self._timeout):
                lookup = self._running.get((host, family)) or await self._start(host, family)
                found = await asyncio.shield(lookup)
        except TimeoutError:
            raise OSError(f"the lookup of {host} timed out") from None
        if isinstance(found, OSError):
            raise found
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=family_,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for family_, _, proto, _, address in found
        ]

    async def _start(
        self, host: str, family: socket.AddressFamily
    ) -> "asyncio.Future[list[AddressInfo] | OSError]":
        """Wait for a free thread of this tenant and of all. The slots are freed when the thread ends."""
        tenant = lookup_tenant.get()
        slots = self._tenants.setdefault(tenant, _Slots())
        slots.users += 1
        try:
            await slots.free.acquire()
            try:
                await self._free.acquire()
            except BaseException:
                slots.free.release()
                raise
        except BaseException:
            self._leave(tenant, slots)
            raise
        running = self._running.get((host, family))
        if running is not None:
            self._release(tenant, slots)
            return running
        loop = asyncio.get_running_loop()
        future = self._running[host, family] = loop.create_future()

        def run() -> None:
            found: list[AddressInfo] | OSError
            try:
                found = self._look_up(host, family)
            except OSError as error:
                found = error
            except Exception as error:
                found = OSError(f"{host} cannot be looked up: {error}")
            # The loop may be closed by now.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, found)

        def finish(found: list[AddressInfo] | OSError) -> None:
            del self._running[host, family]
            self._release(tenant, slots)
            future.set_result(found)

        # A daemon, so that a lookup that hangs does not delay the end of the process.
        threading.Thread(target=run, name=f"lookup:{host}", daemon=True).start()
        return future

    def _release(self, tenant: str, slots: _Slots) -> None:
        self._free.release()
        slots.free.release()
        self._leave(tenant, slots)

    def _leave(self, tenant: str, slots: _Slots) -> None:
        slots.users -= 1
        if slots.users == 0:
            self._tenants.pop(tenant, None)

    async def close(self) -> None:
        """Threads that still hang end by themselves."""
