"""Our system as users run it: `serve` processes or one `up`. Public settings only, so any commit works."""

import base64
import secrets
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

from bench.children import Process
from bench.cores import SERVED
from bench.operators import OperatorClient
from bench.problem import BenchProblem
from bench.working_tree import HERE, WorkingTree
from shared.servers.ports import free_port

SERVICES = ("gateway", "catalog", "bookings", "forms", "webhooks")
# The same as pgbench and the peer: group commit depends on the number of concurrent connections.
POOL_SIZE = 32


class System:
    """`chain` are the processes that a partner's request to bookings goes through."""

    def __init__(
        self,
        home: Path,
        database_url: str,
        *,
        amqp_url: str = "",
        tree: WorkingTree = HERE,
        secrets_of: "System | None" = None,
    ) -> None:
        self.home = home
        self.database_url = database_url
        self.tree = tree
        self.secrets: dict[str, str] = secrets_of.secrets if secrets_of else new_secrets()
        self._settings = self.secrets | {
            "STUDIO_HOME": str(home),
            "STUDIO_DATABASE_URL": database_url,
            "STUDIO_AMQP_URL": amqp_url,
            "STUDIO_LOG_FORMAT": "json",
            "STUDIO_POOL_SIZE": str(POOL_SIZE),
            "STUDIO_WEBHOOK_ALLOW_HTTP": "true",
            "STUDIO_WEBHOOK_ALLOW_HOSTS": "127.0.0.1",
        }
        self.processes: dict[str, Process] = {}
        self.ports: dict[str, int] = {}
        self.operator_port = 0

    @property
    def partner_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['gateway']}/partner/v1"

    @property
    def operator(self) -> OperatorClient:
        return OperatorClient(f"http://127.0.0.1:{self.operator_port}", self.secrets["STUDIO_OPERATOR_TOKEN"])

    @property
    def chain(self) -> list[int]:
        return self.pids("gateway", "bookings", "up")

    def pids(self, *names: str) -> list[int]:
        return [process.pid for name, process in self.processes.items() if name in names]

    def migrate(self) -> None:
        done = subprocess.run(
            [*self.tree.studioctl, "migrate"],
            env=self.tree.environment(self._settings),
            cwd=self.tree.path,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise BenchProblem(f"studioctl migrate failed:\n{done.stderr[-2000:]}")

    def serve(
        self,
        names: Collection[str] = SERVICES,
        *,
        urls: Mapping[str, str] | None = None,
        cores: Collection[int] = SERVED,
    ) -> None:
        """`urls` are services that run elsewhere."""
        self.ports = {name: free_port() for name in names}
        self.operator_port = free_port()
        known = {name: f"http://127.0.0.1:{port}" for name, port in self.ports.items()} | dict(urls or {})
        shared = {f"STUDIO_{name.upper()}_URL": url for name, url in known.items()}
        for name, port in self.ports.items():
            settings = {"STUDIO_PORT": str(port), "STUDIO_OPERATOR_PORT": str(self.operator_port)}
            self.processes[name] = self._start(name, ["serve", name], shared | settings, cores)
        for name, port in self.ports.items():
            self.processes[name].wait_ready(f"http://127.0.0.1:{port}/health/ready")

    def serve_gateway_of(
        self, words: list[str], urls: Mapping[str, str], settings: Mapping[str, str]
    ) -> Process:
        """A gateway started by another command, with the same settings."""
        self.ports, self.operator_port = {"gateway": free_port()}, free_port()
        settings = {f"STUDIO_{name.upper()}_URL": url for name, url in urls.items()} | dict(settings)
        settings["STUDIO_PORT"] = str(self.ports["gateway"])
        settings["STUDIO_OPERATOR_PORT"] = str(self.operator_port)
        process = self.processes["gateway"] = Process(
            words,
            log=self.home / "gateway.log",
            cores=SERVED,
            environment=self.tree.environment(self._settings | settings),
        )
        process.wait_ready(f"http://127.0.0.1:{self.ports['gateway']}/health/ready")
        return process

    def up(self, *, demo: bool = False, cores: Collection[int] = SERVED) -> float:
        """Returns the seconds until it was ready."""
        self.ports, self.operator_port = {"gateway": free_port()}, free_port()
        words = ["up", "--port", str(self.ports["gateway"]), "--operator-port", str(self.operator_port)]
        words += [] if demo else ["--no-demo"]
        process = self.processes["up"] = self._start("up", words, {}, cores)
        return process.wait_ready(f"http://127.0.0.1:{self.ports['gateway']}/health/ready")

    def _start(
        self, name: str, words: list[str], settings: dict[str, str], cores: Collection[int]
    ) -> Process:
        return Process(
            [*self.tree.studioctl, *words],
            log=self.home / f"{name}.log",
            cores=cores,
            environment=self.tree.environment(self._settings | settings),
            folder=self.tree.path,
        )

    def stop(self) -> None:
        for process in self.processes.values():
            process.ask_to_stop()
        for process in self.processes.values():
            process.stop()
        self.processes.clear()


def new_secrets() -> dict[str, str]:
    return {
        "STUDIO_KEY_PEPPER": secrets.token_hex(32),
        "STUDIO_CALLER_KEY": secrets.token_hex(32),
        "STUDIO_WEBHOOK_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "STUDIO_OPERATOR_TOKEN": f"opt_{secrets.token_hex(32)}",
    }
