"""Acts like a Kubernetes Service on loopback: new connections go to a replica that was ready a moment ago.

Existing connections are kept, even if their replica is stopping, as in Kubernetes.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.harness.eventually import in_background, until

POLL_SECONDS = 0.1

Probe = Callable[[int], Awaitable[bool]]


class Balancer:
    def __init__(self, poll_seconds: float, probe: Probe) -> None:
        self.poll_seconds = poll_seconds
        self.probe = probe
        self.port = 0
        self.replicas: set[int] = set()
        self.ready: set[int] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.ready:
            writer.close()
            return
        try:
            inside = await asyncio.open_connection("127.0.0.1", random.choice(sorted(self.ready)))
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pipe(reader, inside[1]), _pipe(inside[0], writer))

    async def watch(self) -> None:
        while True:
            ports = list(self.replicas)
            answers = await asyncio.gather(*(self.probe(port) for port in ports))
            self.ready = {port for port, ready in zip(ports, answers, strict=True) if ready}
            await asyncio.sleep(self.poll_seconds)

    async def until_ready(self, port: int) -> None:
        self.replicas.add(port)
        try:
            await until(lambda: port in self.ready, seconds=120)
        except TimeoutError:
            raise AssertionError(f"not ready: {await _readiness(port)!r}") from None


async def _is_ready(port: int) -> bool:
    return b" 200 " in (await _readiness(port)).split(b"\r\n")[0]


@asynccontextmanager
async def balancing(poll_seconds: float = POLL_SECONDS, probe: Probe = _is_ready) -> AsyncIterator[Balancer]:
    balancer = Balancer(poll_seconds, probe)
    server = await asyncio.start_server(balancer.serve, "127.0.0.1", 0, backlog=512)
    balancer.port = server.sockets[0].getsockname()[1]
    try:
        async with in_background(balancer.watch()):
            yield balancer
    finally:
        server.close()


async def _readiness(port: int) -> bytes:
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
    except (OSError, TimeoutError) as problem:
        return repr(problem).encode()
    return answer


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()
