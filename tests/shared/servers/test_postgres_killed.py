"""The next start recovers from what a killed run leaves behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shared.servers.postgres import EmbeddedPostgres
from shared.servers.postgres_data import recorded_pid, serves
from tests.shared.servers.rows import one_value, read, wait_until, write

OWNER = """
import json, sys, time
from pathlib import Path
from shared.servers.postgres import EmbeddedPostgres
server = EmbeddedPostgres.start(Path(sys.argv[1]))
print(json.dumps({"url": server.url, "data": str(server.data)}), flush=True)
time.sleep(600)
"""


def started_owner(home: Path) -> tuple["subprocess.Popen[str]", str, Path]:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(home)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner.stdout:
        told = json.loads(owner.stdout.readline())
    return owner, told["url"], Path(told["data"])


def lifeline_of(pid: int) -> list[int]:
    """The shell that starts the server, and the one that watches the pipe."""
    shell = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    return [shell, *(int(child) for child in children if int(child) != pid)]


def test_the_server_ends_with_a_killed_owner(home: Path) -> None:
    """Even SIGKILL of the run leaves no server behind."""
    owner, _, data = started_owner(home)
    pid = recorded_pid(data / "postmaster.pid")
    assert pid is not None and serves(pid, data)
    owner.kill()
    owner.wait()
    wait_until(lambda: not serves(pid, data))


async def test_a_start_right_after_a_kill_finds_what_was_committed(home: Path) -> None:
    """The next run waits for the old server to end and loses nothing."""
    owner, url, _ = started_owner(home)
    await write(url, "committed")
    owner.kill()
    owner.wait()
    with EmbeddedPostgres.start(home) as server:
        assert await read(server.url) == ["committed"]


async def test_a_killed_server_recovers(home: Path) -> None:
    """A crash of Postgres itself, with its pid file left behind, loses nothing committed."""
    with EmbeddedPostgres.start(home) as server:
        await write(server.url, "committed")
        pid = recorded_pid(server.data / "postmaster.pid")
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not server.alive)
    with EmbeddedPostgres.start(home) as again:
        assert await read(again.url) == ["committed"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds the lifeline's processes in /proc")
async def test_an_orphan_is_stopped_before_the_next_start(home: Path) -> None:
    """A server that outlived its run, lifeline and all, does not keep its data locked."""
    owner, _, data = started_owner(home)
    pid = recorded_pid(data / "postmaster.pid")
    assert pid is not None
    for helper in lifeline_of(pid):
        os.kill(helper, signal.SIGKILL)
    owner.kill()
    owner.wait()
    assert serves(pid, data)
    with EmbeddedPostgres.start(home) as server:
        assert not serves(pid, data)
        assert await one_value(server.url, "SELECT 1") == 1


def test_a_recorded_pid_that_another_process_now_has_is_ignored(home: Path) -> None:
    """After a reboot another process may have the recorded pid. It must not block the start or be killed."""
    first = EmbeddedPostgres.start(home, durable=False)
    first.stop()
    mark = first.data / "postmaster.pid"
    mark.write_text(f"{os.getpid()}\n{first.data}\n0\n{first.port}\n\n127.0.0.1\n\nready\n")
    with EmbeddedPostgres.start(home, durable=False) as second:
        assert second.alive
