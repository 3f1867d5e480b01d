"""Replicas of the services behind load balancers, one `studioctl serve` each, for rolling restarts."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import SERVICES, Settings
from tests.harness.load_balancer import Balancer, balancing
from tests.harness.process import Process, environment_for, serving
from tests.harness.system import RunningSystem


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
