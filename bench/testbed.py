"""The servers and processes that rows need: started on first use, stopped however the run ends."""

import shutil
import tempfile
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from bench.children import Process
from bench.cores import LOAD_CORES, SERVED, starting_on
from bench.load import Load
from bench.nginx import Nginx
from bench.studios import (
    COUNT_BOOKINGS,
    FILL_BOOKINGS,
    HOLDING,
    LARGE,
    MANY_ENDPOINTS,
    MEMBERS,
    MOVING,
    READING,
    TOLD,
    WRITING,
    Studio,
    execute,
    furnish,
)
from bench.system import System
from bench.tools import Tools
from shared.servers.ports import free_port
from shared.servers.postgres import EmbeddedPostgres
from tests.harness.rabbitmq import PrivateRabbit, install_if_debian_root


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


class Testbed:
    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.folder = Path(tempfile.mkdtemp(prefix="studio-bench-"))
        self.folder.chmod(0o711)  # Postgres runs as another user and must reach its data
        self._stack = ExitStack()
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.keys: dict[str, str] = {}
        self.up_keys: dict[str, str] = {}
        self.subscribed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def enter(self, opened: T) -> T:
        """Registers `opened` to be closed when the run ends."""
        self._stack.callback(opened.close)
        return opened

    def home(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(mode=0o711, exist_ok=True)
        return folder

    @cached_property
    def postgres(self) -> EmbeddedPostgres:
        """With the settings of `studioctl up`: durability is on. Several systems need more connections."""
        with starting_on(LOAD_CORES):
            server = EmbeddedPostgres.start(self.home("postgres"), settings={"max_connections": "400"})
            return self._stack.enter_context(server)

    @property
    def postgres_pid(self) -> int:
        return int((self.postgres.data / "postmaster.pid").read_text().split()[0])

    @cached_property
    def rabbit(self) -> PrivateRabbit:
        install_if_debian_root()
        with starting_on(LOAD_CORES):
            return self._stack.enter_context(PrivateRabbit.start(self.home("rabbitmq")))

    @cached_property
    def nginx(self) -> Nginx:
        """The constant backend, and the receiver of webhooks."""
        nginx = Nginx(self.tools.nginx, self.home("nginx"), cores=LOAD_CORES)
        self._stack.callback(nginx.stop)
        return nginx

    @cached_property
    def system(self) -> System:
        """Five processes over RabbitMQ."""
        url = self.database("studio")
        system = System(self.home("five"), url, amqp_url=self.rabbit.url)
        self._stack.callback(system.stop)
        system.migrate()
        system.serve()
        self.keys = furnish(system.operator, url, (READING, WRITING, TOLD, MANY_ENDPOINTS))
        return system

    @cached_property
    def one_process(self) -> System:
        """`up` with its own database on the same server."""
        url = self.database("studio_up")
        system = System(self.home("one"), url)
        self._stack.callback(system.stop)
        system.up()
        self.up_keys = furnish(system.operator, url, (READING, WRITING, TOLD))
        return system

    @cached_property
    def large_studio(self) -> Studio:
        self.keys |= furnish(self.system.operator, self.system.database_url, (LARGE,))
        return LARGE

    @cached_property
    def moving_studio(self) -> Studio:
        """Every member has a booking. Beside it a studio without bookings, for holds."""
        url = self.system.database_url
        self.keys |= furnish(self.system.operator, url, (HOLDING, MOVING))
        execute(url, FILL_BOOKINGS, MOVING.id, f"{MOVING.number:08x}", MEMBERS, MOVING.classes)
        execute(url, COUNT_BOOKINGS, MOVING.id)
        execute(url, "VACUUM ANALYZE bookings.bookings, bookings.classes, bookings.members")
        return MOVING

    @cached_property
    def fastapi_studio(self) -> Process:
        """FastAPI and SQLAlchemy on our own tables, without a gateway."""
        return self.peer("fastapi_studio", {"PEER_DATABASE_URL": self.system.database_url})

    def peer(self, module: str, environment: dict[str, str]) -> Process:
        port = free_port()
        words = [self.tools.peers_python, "-m", "uvicorn", f"bench.peers.{module}:app", "--port", str(port)]
        words += ["--no-access-log", "--log-level", "warning", "--loop", "uvloop", "--http", "httptools"]
        process = Process(
            words, log=self.folder / f"{module}.log", cores=SERVED, environment={"PATH": "", **environment}
        )
        self._stack.callback(process.stop)
        process.wait_ready(f"http://127.0.0.1:{port}/ready")
        process.words.append(f"http://127.0.0.1:{port}")
        return process

    def load(
        self,
        url: str,
        *,
        key: str,
        script: str = "get.lua",
        served_by: Sequence[int] = (),
        connections: int = 64,
        cores: Collection[int] = LOAD_CORES,
        **settings: object,
    ) -> Load:
        return Load(
            wrk=self.tools.wrk,
            url=url,
            script=script,
            settings={"BENCH_KEY": key} | {f"BENCH_{name.upper()}": str(v) for name, v in settings.items()},
            served_by=served_by,
            connections=connections,
            cores=cores,
        )

    def database(self, name: str) -> str:
        execute(self.postgres.url, f"CREATE DATABASE {name}")
        return self.postgres.url_of(name)
