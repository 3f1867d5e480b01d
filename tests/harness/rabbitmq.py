"""A private RabbitMQ node for tests and bench, with its own folder, ports, name, cookie and epmd.

It can be killed and restarted on the same data and port, so tests can crash the broker.
"""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from shared.servers.child import Child, RunAs
from shared.servers.ports import free_port
from shared.servers.problem import ServerProblem, explained
from tests.harness.debian_package import install

# Debian's wrappers in /usr/sbin switch user and folder; these are the scripts that they call.
FOLDERS = (
    "/usr/lib/rabbitmq/bin",
    "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin",
    "/opt/rabbitmq/sbin",
    "/opt/homebrew/opt/rabbitmq/sbin",
    "/usr/local/opt/rabbitmq/sbin",
)
EPMD = (
    "/usr/lib/erlang/erts-*/bin/epmd",
    "/usr/lib64/erlang/erts-*/bin/epmd",
    "/usr/local/lib/erlang/erts-*/bin/epmd",
)
HOW_TO_INSTALL = "install rabbitmq-server (apt-get, dnf or brew), or start Docker"
NOT_FOUND = f"RabbitMQ was not found; {HOW_TO_INSTALL}."
START_SECONDS = 60.0  # 5 to 6 s on two idle cores
# Older brokers write the name of a new quorum queue to disk half a second after its declaration. A crash
# before that loses the queue with its confirmed messages, which is not what the tests are about.
SETTLE = "[dets:sync(Table) || Table <- dets:all()]."
GREETING = b"AMQP\x00\x00\x09\x01"


class RabbitBinaries(Struct, frozen=True):
    folder: Path
    epmd: Path
    # The folder of `erl`, if it is not the one on the path.
    erlang: Path | None = None

    @property
    def server(self) -> str:
        return str(self.folder / "rabbitmq-server")

    @property
    def control(self) -> str:
        return str(self.folder / "rabbitmqctl")

    @property
    def path(self) -> str:
        path = os.environ.get("PATH", os.defpath)
        return f"{self.erlang}{os.pathsep}{path}" if self.erlang else path

    @property
    def origin(self) -> str:
        return f"RabbitMQ, this machine's own ({self.folder})"


def find_rabbitmq() -> RabbitBinaries | None:
    folders = (folder for folder in _matching(FOLDERS) if (folder / "rabbitmq-server").exists())
    folder = next(folders, None)
    on_path = shutil.which("epmd")
    epmd = Path(on_path) if on_path else next(_matching(EPMD), None)
    return RabbitBinaries(folder, epmd) if folder and epmd else None


def _matching(patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(Path("/").glob(pattern.lstrip("/")), reverse=True)


def install_if_debian_root() -> RabbitBinaries:
    """The binaries. As root on Debian or Ubuntu they are installed first if missing."""
    if find_rabbitmq() is None:
        install("rabbitmq-server")
    if found := find_rabbitmq():
        return found
    raise ServerProblem(NOT_FOUND)


class PrivateRabbit:
    """Created by `start`; `home` should be an empty temporary folder owned by the current user."""

    def __init__(self, home: Path, binaries: RabbitBinaries) -> None:
        self.home = home
        self.origin = binaries.origin
        self.port = free_port()
        self._binaries = binaries
        self.mapper_port = free_port()
        self._env = self._environment(free_port())
        self._run_as = RunAs(os.geteuid(), os.getegid())
        self._mapper: Child | None = None
        self._node: Child | None = None

    @classmethod
    def start(cls, home: Path, *, binaries: RabbitBinaries | None = None) -> Self:
        binaries = binaries or find_rabbitmq()
        if binaries is None:
            raise ServerProblem(NOT_FOUND)
        rabbit = cls(home.absolute(), binaries)
        with explained(home):
            rabbit._prepare_home()
            rabbit.start_again()
        return rabbit

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    def url_of(self, vhost: str) -> str:
        return self.url + vhost

    @property
    def alive(self) -> bool:
        return self._node is not None and self._node.alive

    @property
    def pid(self) -> int:
        assert self._node is not None
        return self._node.pid

    def start_again(self) -> None:
        """Restarts the node on the same data and port; returns once it accepts AMQP clients."""
        if self.alive:
            return
        if self._mapper is None or not self._mapper.alive:
            mapper = [str(self._binaries.epmd), "-port", str(self.mapper_port), "-address", "127.0.0.1"]
            self._mapper = self._child(mapper)
        self._node = self._child([self._binaries.server])
        deadline = time.monotonic() + START_SECONDS
        while not greets(self.port):
            if not self._node.alive or time.monotonic() > deadline:
                self.stop()
                raise ServerProblem(f"RabbitMQ did not start. The end of its log:\n{self._end_of_log()}")
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL, like a crash. Data and declared queues remain."""
        if self._node is not None:
            if self._node.alive:
                self.control("eval", SETTLE)
            self._node.kill()

    def restart(self) -> None:
        if self._node is not None and not self._node.stop(timeout=30):
            self._node.kill()
        self.start_again()

    def stop(self) -> None:
        """Stops the node and then its epmd, which would otherwise keep running."""
        for child in (self._node, self._mapper):
            if child is not None and not child.stop(timeout=30):
                child.kill()

    def control(self, *command: str) -> str:
        """Runs `rabbitmqctl` on this node. Takes about a second, so do not call it in a loop."""
        argv = [self._binaries.control, "--quiet", *command]
        done = subprocess.run(argv, env=self._env, cwd=self.home, capture_output=True, text=True, timeout=180)
        if done.returncode != 0:
            raise ServerProblem(f"rabbitmqctl {command[0]} failed: {done.stderr.strip()}")
        return done.stdout

    def add_vhosts(self, names: list[str]) -> None:
        """Adds all in one call. A client that connects to a vhost's URL sees a private broker."""
        self.control("eval", adding_vhosts(names, user="guest"))

    def import_definitions(self, definitions: bytes) -> None:
        """Users and permissions, as a broker imports them from a file when it starts."""
        file = self.home / "definitions.json"
        file.write_bytes(definitions)
        self.control("import_definitions", str(file))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _end_of_log(self) -> str:
        return (self.home / "rabbitmq.log").read_text(errors="replace")[-2_000:]

    def _child(self, argv: list[str]) -> Child:
        with (self.home / "rabbitmq.log").open("ab") as log:
            return Child(argv, run_as=self._run_as, stop_with="TERM", log=log, cwd=self.home, env=self._env)

    def _prepare_home(self) -> None:
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.home / "plugins").write_text("[].")
        (self.home / "rabbitmq.conf").write_text("")
        cookie = self.home / ".erlang.cookie"
        cookie.touch(mode=0o600)
        cookie.write_text(secrets.token_hex(16))
        cookie.chmod(0o400)

    def _environment(self, distribution_port: int) -> dict[str, str]:
        return {
            "PATH": self._binaries.path,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "RABBITMQ_NODENAME": f"studio{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution_port),
            "ERL_EPMD_PORT": str(self.mapper_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": str(self.home / "data"),
            "RABBITMQ_LOG_BASE": str(self.home / "logs"),
            "RABBITMQ_CONFIG_FILE": str(self.home / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.home / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }


def adding_vhosts(names: list[str], user: str) -> str:
    """The expression for `rabbitmqctl eval`. The built-in command takes half a second per vhost."""
    listed = ", ".join(f'<<"{name}">>' for name in names)
    all_of = ", ".join(['<<".*">>'] * 3)
    grant = f'rabbit_auth_backend_internal:set_permissions(<<"{user}">>, Name, {all_of}, <<"studio">>)'
    return f'[begin rabbit_vhost:add(Name, <<"studio">>), {grant} end || Name <- [{listed}]].'


def greets(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a broker answers the AMQP handshake. The port is open before the broker can."""
    try:
        with socket.create_connection((host, port), timeout=2) as connection:
            connection.sendall(GREETING)
            return connection.recv(1) == b"\x01"
    except OSError:
        return False
