"""A real PgBouncer between the services and Postgres, private to one test."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from shared.db.database import role_of, role_password
from shared.servers.child import Child
from shared.servers.ports import free_port
from shared.servers.run_as import unprivileged
from shared.settings import SERVICES
from tests.harness.debian_package import find_binary
from tests.harness.servers import home_for_servers

# The first version that keeps prepared statements apart when sessions are shared.
TRANSACTION_MODE_SINCE = (1, 21)


def pgbouncer_version(binary: str) -> tuple[int, ...]:
    text = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"PgBouncer (\d+)\.(\d+)", text)
    assert found is not None, text
    return tuple(map(int, found.groups()))


@contextmanager
def running_pgbouncer(database_url: str) -> Iterator[str]:
    """`database_url` through the pooler: by transaction from 1.21 on, by session before."""
    binary = find_binary("pgbouncer")
    if binary is None:
        pytest.skip("there is no PgBouncer here; install pgbouncer (apt-get, dnf or brew)")
    by_transaction = pgbouncer_version(binary) >= TRANSACTION_MODE_SINCE
    server, port = urlsplit(database_url), free_port()
    users = {role_of(name): role_password(database_url, name) or "" for name in SERVICES}
    users[str(server.username)] = unquote(server.password or "")
    with home_for_servers() as home:
        (home / "users.txt").write_text("".join(f'"{name}" "{word}"\n' for name, word in users.items()))
        (home / "pgbouncer.ini").write_text(
            f"""[databases]
* = host={server.hostname} port={server.port or 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {home / "users.txt"}
pool_mode = {"transaction" if by_transaction else "session"}
{"max_prepared_statements = 200" if by_transaction else ""}
default_pool_size = 40
max_client_conn = 500
"""
        )
        run_as = unprivileged(home / "none", ("postgres", "nobody"))
        for path in (home, *home.iterdir()):
            os.chown(path, run_as.uid, run_as.gid)
        log = home / "pgbouncer.log"
        with log.open("ab") as output:
            child = Child(
                [binary, str(home / "pgbouncer.ini")],
                run_as=run_as,
                stop_with="INT",
                log=output,
                cwd=Path("/"),
                env=dict(os.environ),
            )
        try:
            deadline = time.monotonic() + 30
            while not _is_listening(port):
                assert child.alive and time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            host = f"{server.netloc.rpartition('@')[0]}@127.0.0.1:{port}"
            yield server._replace(netloc=host).geturl()
        finally:
            if not child.stop(timeout=10):
                child.kill()


def _is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True
