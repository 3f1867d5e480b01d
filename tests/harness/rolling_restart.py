"""Replicas behind load balancers on loopback, as in Kubernetes, for rolling restarts.

New connections go to a replica that was ready a moment ago. Existing ones are kept, even if their replica is
stopping.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import SERVICES, Settings
from tests.harness.eventually import in_background, until
from tests.harness.process import Process, environment_for, serving
from tests.harness.system import RunningSystem

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
            responses = await asyncio.gather(*(self.probe(port) for port in ports))
            self.ready = {port for port, ready in zip(ports, responses, strict=True) if ready}
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
            response = await reader.read()
            writer.close()
    except (OSError, TimeoutError) as problem:
        return repr(problem).encode()
    return response


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


class Fleet:
    def __init__(self, folder: Path, shared: dict[str, str], balancers: dict[str, Balancer]) -> None:
        self.folder = folder
        self.shared = shared
        self.balancers = balancers
        self.replicas: dict[str, tuple[int, Process]] = {}
        self._started: list[Process] = []
        self.exit_codes: dict[str, int] = {}
        self.system: RunningSystem

    async def start(self, service: str) -> None:
        port, environment = free_port(), dict(self.shared)
        if service == "gateway" and "gateway" in self.replicas:
            environment["STUDIO_OPERATOR_PORT"] = str(free_port())
        process = serving([service], environment, self.folder, port)
        self._started.append(process)
        process.start()
        await self.balancers[service].until_ready(port)
        self.replicas[service] = (port, process)

    async def roll(self, services: Sequence[str]) -> None:
        """Like Deployments, one after the other: a new replica is ready before the old one is stopped.

        While an old replica drains, the next service is starting already.
        """
        async with asyncio.TaskGroup() as stopping:
            for service in services:
                old_port, old = self.replicas[service]
                await self.start(service)
                stopping.create_task(self._stop(service, old_port, old))

    async def _stop(self, service: str, old_port: int, old: Process) -> None:
        await asyncio.to_thread(old.stop)
        self.balancers[service].replicas.discard(old_port)
        assert old.child is not None
        self.exit_codes[f"{service}-{old_port}"] = old.child.returncode

    def stop(self) -> None:
        for process in self._started:
            process.kill()

    def log_text(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))


@asynccontextmanager
async def fleet(folder: Path, database_url: str, amqp_url: str, **settings: str) -> AsyncIterator[Fleet]:
    made = with_secrets(Settings(home=folder), make=True)
    async with AsyncExitStack() as stack:
        balancers = {name: await stack.enter_async_context(balancing()) for name in SERVICES}
        urls = {f"STUDIO_{name.upper()}_URL": f"http://127.0.0.1:{b.port}" for name, b in balancers.items()}
        operator_port = free_port()
        shared = environment_for(
            folder,
            STUDIO_DATABASE_URL=database_url,
            STUDIO_AMQP_URL=amqp_url,
            STUDIO_OPERATOR_PORT=str(operator_port),
            **urls,
            **settings,
        )
        running = Fleet(folder, shared, balancers)
        running.system = RunningSystem(
            balancers["gateway"].port, operator_port, made.operator_tokens[0], folder
        )
        stack.callback(running.stop)
        await asyncio.gather(*(running.start(name) for name in SERVICES))
        yield running
