"""The whole system as users run it: real processes, real ports. Each test has its own studio."""

import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import SERVICES, Settings
from tests.harness.http import Client
from tests.harness.process import ROOT as ROOT
from tests.harness.process import STUDIOCTL as STUDIOCTL
from tests.harness.process import Process as Process
from tests.harness.process import environment_for as environment_for
from tests.harness.process import serving


class RunningSystem:
    """The addresses of a running system, and its processes for tests that kill them."""

    def __init__(self, partner_port: int, operator_port: int, operator_token: str, logs: Path) -> None:
        self.partner_url = f"http://127.0.0.1:{partner_port}"
        self.operator_url = f"http://127.0.0.1:{operator_port}"
        self.operator_token = operator_token
        self.logs = logs
        self.processes: dict[str, Process] = {}

    def database_url(self, service: str) -> str:
        """The superuser's URL of the database with this service's tables."""
        environment = self.process_of(service).environment
        return environment.get("STUDIO_DATABASE_DIRECT_URL") or environment["STUDIO_DATABASE_URL"]

    def process_of(self, service: str) -> Process:
        """Its own, or the one that all services share."""
        return self.processes["up" if "up" in self.processes else service]

    def log_text(self) -> str:
        return "".join(process.log.read_text() for process in self.processes.values())


def _secrets(folder: Path) -> Settings:
    return with_secrets(Settings(home=folder), make=True)


@contextmanager
def studioctl_up(
    environment: Mapping[str, str], log: Path, *words: str
) -> Iterator[tuple[Process, int, int]]:
    """Every service in one process, once it is ready, with the partners' and the operators' port."""
    port, operator_port = free_port(), free_port()
    given = ["up", "--port", str(port), "--operator-port", str(operator_port), *words]
    process = Process(given, environment, f"http://127.0.0.1:{port}/health/ready", log)
    process.start()
    try:
        process.wait_ready()
        yield process, port, operator_port
    finally:
        process.stop()


@contextmanager
def embedded_system(folder: Path, database_url: str, **settings: str) -> Iterator[RunningSystem]:
    """`studioctl up` without the demo, with the in-process bus."""
    made = _secrets(folder)
    environment = environment_for(folder, STUDIO_DATABASE_URL=database_url, **settings)
    with studioctl_up(environment, folder / "up.log", "--no-demo") as (process, port, operator_port):
        system = RunningSystem(port, operator_port, made.operator_tokens[0], folder)
        system.processes["up"] = process
        yield system


@contextmanager
def separate_services(
    folder: Path, database_url: str | Mapping[str, str], amqp_url: str | Mapping[str, str], **settings: str
) -> Iterator[RunningSystem]:
    """Five `studioctl serve` processes with their own database roles, over RabbitMQ.

    `database_url` and `amqp_url` are one for all, or one for each service.
    """
    urls = dict.fromkeys(SERVICES, database_url) if isinstance(database_url, str) else database_url
    brokers = dict.fromkeys(SERVICES, amqp_url) if isinstance(amqp_url, str) else amqp_url
    ports = {name: free_port() for name in SERVICES}
    operator_port = free_port()
    made = _secrets(folder)
    system = RunningSystem(ports["gateway"], operator_port, made.operator_tokens[0], folder)
    shared = environment_for(
        folder,
        STUDIO_OPERATOR_PORT=str(operator_port),
        **{f"STUDIO_{name.upper()}_URL": f"http://127.0.0.1:{port}" for name, port in ports.items()},
        **settings,
    )
    with ExitStack() as stack:
        for name, port in ports.items():
            environment = shared | {"STUDIO_DATABASE_URL": urls[name]}
            if name in brokers:
                environment["STUDIO_AMQP_URL"] = brokers[name]
            process = serving([name], environment, folder, port)
            system.processes[name] = process
            stack.callback(process.stop)
            process.start()
        for process in system.processes.values():
            process.wait_ready()
        yield system


class System:
    """A running system as one test sees it, with its own studio."""

    def __init__(self, running: RunningSystem, session: aiohttp.ClientSession) -> None:
        self.running = running
        self._session = session
        self.studio_id = ""
        self.operator = self.operators({"Authorization": f"Bearer {running.operator_token}"})
        self.anyone = Client(session, f"{running.partner_url}/partner/v1", {})
        self.site = Client(session, running.partner_url, {})

    async def new_studio(self, **fields: Any) -> str:
        """A second studio, in addition to `studio_id`."""
        name = f"studio-{secrets.token_hex(6)}"
        body = {"name": name, "slug": name, "timezone": "America/New_York"} | fields
        return str((await self.operator.create("/studios", body))["id"])

    async def issue(self, *scopes: str, **fields: Any) -> dict[str, Any]:
        """A key with all its fields; every scope by default."""
        body = {"studio": self.studio_id, "name": "test", "scopes": list(scopes) or ["all"]} | fields
        return await self.operator.create("/keys", body)

    async def key(
        self,
        scopes: Sequence[str] = ("all",),
        locations: Sequence[str] | None = None,
        studio: str | None = None,
        client: str | None = None,
    ) -> str:
        issued = await self.issue(
            *scopes, location_ids=locations, studio=studio or self.studio_id, client=client or "test"
        )
        return str(issued["key"])

    async def limit(self, issued: Mapping[str, Any], rate: float = 100_000, burst: int = 100_000) -> None:
        """The client of an issued key gets this rate; by default so high that no test reaches it."""
        limits = {"rate": rate, "burst": burst}
        changed = await self.operator.patch(f"/clients/{issued['client_id']}", limits)
        assert changed.status == 200, changed.body

    async def staff_token(self, role: str, studio: str | None = None) -> dict[str, Any]:
        path = f"/studios/{studio or self.studio_id}/staff-tokens"
        return await self.operator.create(path, {"name": "Desk", "role": role})

    def staff(self, token: str) -> Client:
        return self.operators({"Authorization": f"Bearer {token}"})

    def operators(self, headers: Mapping[str, str]) -> Client:
        return self.client(f"{self.running.operator_url}/operator/v1", headers)

    def partner(self, key: str) -> Client:
        return self.client(f"{self.running.partner_url}/partner/v1", {"X-Service-Key": key})

    def client(self, base_url: str, headers: Mapping[str, str]) -> Client:
        return Client(self._session, base_url, headers)

    async def import_lines(
        self, lines: Sequence[Mapping[str, Any]], studio: str | None = None, *, send_events: bool = False
    ) -> dict[str, Any]:
        """All lines must be valid; use `try_import` for those that are not. Without events by default."""
        raw = b"\n".join(json.dumps(line).encode() for line in lines)
        brings_studio = any(line["object"] == "studio" for line in lines)
        named = None if brings_studio else studio or self.studio_id
        report = await self._import(raw, named, send_events=send_events)
        assert report["rejected"] == [], report["rejected"][:5]
        return report

    async def try_import(self, raw: bytes, studio: str | None = None) -> dict[str, Any]:
        return await self._import(raw, studio or self.studio_id)

    async def _import(self, raw: bytes, studio: str | None, *, send_events: bool = True) -> dict[str, Any]:
        response = await self.operator.post(
            "/import", raw=raw, studio=studio, events=str(send_events).lower()
        )
        assert response.status == 200, response.body
        report: dict[str, Any] = response.json()
        return report


@asynccontextmanager
async def new_studio_in(running: RunningSystem, **options: Any) -> AsyncIterator[System]:
    """The system with a new studio. `options` are those of the session."""
    async with aiohttp.ClientSession(**options) as session:
        system = System(running, session)
        system.studio_id = await system.new_studio()
        yield system
