"""A real Valkey or Redis, private to one test. It can be stopped and started again on the same port."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.servers.child import Child, RunAs
from shared.servers.ports import free_port
from tests.harness.debian_package import find_binary
from tests.harness.servers import home_for_servers


class Valkey:
    def __init__(self, binary: str, home: Path) -> None:
        self._binary = binary
        self._home = home
        self.port = free_port()
        self.url = f"valkey://127.0.0.1:{self.port}/0"
        self._child: Child | None = None

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with (self._home / "valkey.log").open("ab") as log:
            self._child = Child(
                [self._binary, *options],
                run_as=RunAs(os.geteuid(), os.getegid()),
                stop_with="TERM",
                log=log,
                cwd=self._home,
                env=dict(os.environ),
            )
        deadline = time.monotonic() + 30
        while not self._answers():
            assert self._child.alive and time.monotonic() < deadline, (self._home / "valkey.log").read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        if self._child is not None and not self._child.stop(timeout=10):
            self._child.kill()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


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
