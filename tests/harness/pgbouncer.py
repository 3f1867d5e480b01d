"""A real PgBouncer between the services and Postgres, and a real Valkey or Redis, private to one test."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from shared.db.database import role_of, role_password
from shared.servers.child import Child, RunAs, unprivileged
from shared.servers.ports import free_port
from shared.settings import SERVICES
from tests.harness.debian_package import find_binary
from tests.harness.debian_release import command_in, fetch_program
from tests.harness.servers import home_for_servers

# The first version that keeps prepared statements apart when sessions are shared.
TRANSACTION_MODE_SINCE = (1, 21)
# What it is linked with, except for libc6.
LIBRARIES = (
    *("libcares2", "libevent-2.1-7t64", "libpam0g", "libssl3t64", "libsystemd0"),
    *("libaudit1", "libcap-ng0", "libcap2", "libzstd1", "zlib1g"),
)


def find_pgbouncer() -> list[str] | None:
    """The command of this machine's PgBouncer, or of a newer one if this one is too old for us."""
    binary = find_binary("pgbouncer")
    if binary is not None and pgbouncer_version([binary]) >= TRANSACTION_MODE_SINCE:
        return [binary]
    return fetch_program("pgbouncer", LIBRARIES) or (None if binary is None else [binary])


def pgbouncer_version(command: list[str]) -> tuple[int, ...]:
    text = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"PgBouncer (\d+)\.(\d+)", text)
    assert found is not None, text
    return tuple(map(int, found.groups()))


@contextmanager
def running_pgbouncer(
    database_url: str, *, pool_size: int = 40, only_transaction_mode: bool = False
) -> Iterator[str]:
    """`database_url` through the pooler: by transaction from 1.21 on, by session before.

    `pool_size` is per database and role. Sessions are used in turn, so that clients change theirs often. The
    superuser keeps its sessions, because tests themselves hold locks and listen.
    """
    command = find_pgbouncer()
    if command is None:
        pytest.skip("there is no PgBouncer here; install pgbouncer (apt-get, dnf or brew)")
    by_transaction = pgbouncer_version(command) >= TRANSACTION_MODE_SINCE
    if only_transaction_mode and not by_transaction:
        pytest.skip("this PgBouncer is older than 1.21, and no newer one can be had here")
    server, port = urlsplit(database_url), free_port()
    users = {role_of(name): role_password(database_url, name) or "" for name in SERVICES}
    users[str(server.username)] = unquote(server.password or "")
    with home_for_servers() as home:
        if len(command) > 1:
            shutil.copytree(Path(command[0]).parent, home / "program")
            command = command_in(home / "program", "pgbouncer")
        (home / "users.txt").write_text("".join(f'"{name}" "{word}"\n' for name, word in users.items()))
        (home / "pgbouncer.ini").write_text(
            f"""[databases]
* = host={server.hostname} port={server.port or 5432}
[users]
{server.username} = pool_mode=session
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {home / "users.txt"}
pool_mode = {"transaction" if by_transaction else "session"}
{"max_prepared_statements = 200" if by_transaction else ""}
server_round_robin = 1
default_pool_size = {pool_size}
max_client_conn = 2000
"""
        )
        run_as = unprivileged(home / "none", ("postgres", "nobody"))
        for path in (home, home / "users.txt", home / "pgbouncer.ini"):
            os.chown(path, run_as.uid, run_as.gid)
        child = _started([*command, str(home / "pgbouncer.ini")], home, port, run_as, "INT")
        try:
            host = f"{server.netloc.rpartition('@')[0]}@127.0.0.1:{port}"
            yield server._replace(netloc=host).geturl()
        finally:
            if not child.stop(timeout=10):
                child.kill()


def _started(command: list[str], home: Path, port: int, run_as: RunAs, stop_with: str) -> Child:
    """Returns once it takes connections."""
    log = home / "server.log"
    with log.open("ab") as output:
        child = Child(
            command, run_as=run_as, stop_with=stop_with, log=output, cwd=Path("/"), env=dict(os.environ)
        )
    deadline = time.monotonic() + 30
    while not _is_listening(port):
        assert child.alive and time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return child


def _is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


class Valkey:
    def __init__(self, binary: str, home: Path) -> None:
        self._binary = binary
        self._home = home
        self.port = free_port()
        self.url = f"valkey://127.0.0.1:{self.port}/0"
        self._child: Child | None = None

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        run_as = RunAs(os.geteuid(), os.getegid())
        self._child = _started([self._binary, *options], self._home, self.port, run_as, "TERM")

    def stop(self) -> None:
        if self._child is not None and not self._child.stop(timeout=10):
            self._child.kill()


@contextmanager
def running_valkey() -> Iterator[Valkey]:
    binary = find_binary("valkey-server", "redis-server")
    if binary is None:
        pytest.skip("there is no Valkey or Redis here; install redis-server (apt-get, dnf or brew)")
    with home_for_servers() as home:
        server = Valkey(binary, home)
        try:
            server.start()
            yield server
        finally:
            server.stop()
