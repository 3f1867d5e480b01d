"""Two replicas of every role, each of which can be killed and started again."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import Settings
from tests.harness.process import ROOT, Process, environment_for
from tests.harness.system import RunningSystem

ROLES: dict[str, list[str]] = {
    "log": ["webhooks", "--only", "log"],
    "dispatch": ["webhooks", "--only", "dispatch"],
    "bookings": ["bookings"],
    "forms": ["forms"],
}
# Not killed: they only set the stage.
SINGLE = ("catalog", "gateway")
# What is shown of each log after a failure.
WARNINGS, WARNING_CHARS = 5, 300


class Replicas:
    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder = folder
        self.processes: dict[str, Process] = {}
        names = [f"{role}-{number}" for role in ROLES for number in (1, 2)]
        self._ports = {name: free_port() for name in (*names, *SINGLE)}
        self._ports["operators"] = free_port()
        urls = {
            f"STUDIO_{service.upper()}_URL": f"http://127.0.0.1:{self._ports[name]}"
            for service, name in (
                ("webhooks", "log-1"),
                ("bookings", "bookings-1"),
                ("forms", "forms-1"),
                ("catalog", "catalog"),
            )
        }
        self._shared = environment_for(
            folder, STUDIO_OPERATOR_PORT=str(self._ports["operators"]), STUDIO_POOL_SIZE="5", **urls
        )
        self._shared |= settings
        token = with_secrets(Settings(home=folder), make=True).operator_tokens[0]
        self.system = RunningSystem(self._ports["gateway"], self._ports["operators"], token, folder)

    async def start_all(self) -> None:
        for role, words in ROLES.items():
            for number in (1, 2):
                self._begin(f"{role}-{number}", words)
        for service in SINGLE:
            self._begin(service, [service])
        for process in self.processes.values():
            await asyncio.to_thread(process.wait_ready)

    async def kill(self, name: str) -> None:
        await asyncio.to_thread(self.processes[name].kill)

    async def revive(self, name: str) -> None:
        self.processes[name].start()
        await asyncio.to_thread(self.processes[name].wait_ready)

    async def migrate(self) -> None:
        words = [sys.executable, "-m", "services.cli.main", "migrate"]

        def run() -> None:
            done = subprocess.run(words, cwd=ROOT, env=self._shared, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr

        await asyncio.to_thread(run)

    def last_warnings(self) -> str:
        """Of each process, whose log goes with the test's servers."""
        lines: list[str] = []
        for name, process in self.processes.items():
            logged = process.log.read_text(errors="replace").splitlines()
            told = [line for line in logged if '"level":"info"' not in line]
            lines += [f"{name}: {line[:WARNING_CHARS]}" for line in told[-WARNINGS:]]
        return "\n".join(lines)

    def stop(self) -> None:
        for process in self.processes.values():
            if process.child is not None and process.child.poll() is None:
                process.kill()

    def _begin(self, name: str, words: list[str]) -> None:
        port = self._ports[name]
        environment = self._shared | {"STUDIO_PORT": str(port)}
        ready_url, log = f"http://127.0.0.1:{port}/health/ready", self.folder / f"{name}.log"
        self.processes[name] = Process(["serve", *words], environment, ready_url, log)
        self.processes[name].start()


@asynccontextmanager
async def replicas(folder: Path, **settings: str) -> AsyncIterator[Replicas]:
    running = Replicas(folder, settings)
    try:
        yield running
    finally:
        await asyncio.to_thread(running.stop)
