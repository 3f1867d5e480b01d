"""Our system as its users run it: five `serve` processes, or one `up`."""

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from bench.children import Process
from bench.cores import SERVED
from services.cli.operator_client import OperatorClient
from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import SERVICES, Settings

# As many as pgbench and the peer have: group commit is what a disk gives to those who come together.
POOL_SIZE = 32
STUDIOCTL = [sys.executable, "-m", "services.cli.main"]


class System:
    """`chain` are the processes that a partner's request to bookings goes through."""

    def __init__(self, home: Path, database_url: str, *, amqp_url: str | None = None) -> None:
        self.home = home
        self.database_url = database_url
        self.token = with_secrets(Settings(home=home), make=True).operator_tokens[0]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("STUDIO_")}
        self._environment = kept | {
            "STUDIO_HOME": str(home),
            "STUDIO_DATABASE_URL": database_url,
            "STUDIO_LOG_FORMAT": "json",
            "STUDIO_POOL_SIZE": str(POOL_SIZE),
            "STUDIO_WEBHOOK_ALLOW_HTTP": "true",
            "STUDIO_WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
        }
        if amqp_url is not None:
            self._environment["STUDIO_AMQP_URL"] = amqp_url
        self.processes: dict[str, Process] = {}
        self.ports: dict[str, int] = {}
        self.operator_port = 0

    @property
    def partner_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['gateway']}/partner/v1"

    @property
    def operator(self) -> OperatorClient:
        return OperatorClient(f"http://127.0.0.1:{self.operator_port}", self.token)

    @property
    def chain(self) -> list[int]:
        return [
            process.pid for name, process in self.processes.items() if name in ("gateway", "bookings", "up")
        ]

    def serve(
        self,
        names: Collection[str] = SERVICES,
        *,
        urls: Mapping[str, str] | None = None,
        cores: Collection[int] = SERVED,
    ) -> None:
        """`urls` are services that somebody else runs."""
        self.ports = {name: free_port() for name in names}
        self.operator_port = free_port()
        known = {name: f"http://127.0.0.1:{port}" for name, port in self.ports.items()} | dict(urls or {})
        shared = self._environment | {f"STUDIO_{name.upper()}_URL": url for name, url in known.items()}
        shared["STUDIO_OPERATOR_PORT"] = str(self.operator_port)
        for name, port in self.ports.items():
            self.processes[name] = Process(
                [*STUDIOCTL, "serve", name],
                log=self.home / f"{name}.log",
                cores=cores,
                environment=shared | {"STUDIO_PORT": str(port)},
            )
        for name, port in self.ports.items():
            self.processes[name].wait_ready(f"http://127.0.0.1:{port}/health/ready")

    def up(self, *, demo: bool = False, cores: Collection[int] = SERVED) -> float:
        """Answers the seconds until it was ready."""
        self.ports, self.operator_port = {"gateway": free_port()}, free_port()
        words = ["up", "--port", str(self.ports["gateway"]), "--operator-port", str(self.operator_port)]
        process = self.processes["up"] = Process(
            [*STUDIOCTL, *words, *([] if demo else ["--no-demo"])],
            log=self.home / "up.log",
            cores=cores,
            environment={name: value for name, value in self._environment.items() if value},
        )
        return process.wait_ready(f"http://127.0.0.1:{self.ports['gateway']}/health/ready")

    def stop(self) -> None:
        for process in self.processes.values():
            process.ask_to_stop()
        for process in self.processes.values():
            process.stop()
        self.processes.clear()
