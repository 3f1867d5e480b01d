"""Starts of a private Postgres: later ones, after a kill or a move, and the reasons for a refusal."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from shared.servers.child import RunAs
from shared.servers.postgres import EmbeddedPostgres
from shared.servers.postgres_data import recorded_pid, serves
from shared.servers.problem import ServerProblem
from tests.shared.servers.rows import one_value, read, wait_until, write


async def test_later_starts_keep_data_and_port_and_leave_a_taken_port_to_its_owner(home: Path) -> None:
    """`make up` twice is the same system. If another program took the port, the new one is recorded."""
    with EmbeddedPostgres.start(home) as first:
        await write(first.url, "kept")
        port = first.port
        state = home / "postgres.json"
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        password = json.loads(state.read_bytes())["password"]
        with pytest.raises(Exception, match="password authentication failed"):
            await one_value(first.url.replace(password, "guess"), "SELECT 1")
    begun = time.monotonic()
    with EmbeddedPostgres.start(home) as second:
        assert time.monotonic() - begun < 5
        assert (second.port, await read(second.url)) == (port, ["kept"])
        assert await one_value(second.url, "SHOW fsync") == "on"
        assert await one_value(second.url, "SHOW timezone") == "UTC"
    assert not second.alive
    with socket.create_server(("127.0.0.1", port)), EmbeddedPostgres.start(home) as third:
        assert third.port != port
        assert json.loads(state.read_bytes())["port"] == third.port
        assert await read(third.url) == ["kept"]


def test_the_reason_for_which_it_does_not_start_is_one_sentence(home: Path) -> None:
    """Data that cannot be opened is neither overwritten nor started: an empty system would look like loss."""
    server = EmbeddedPostgres.start(home, durable=False)
    server.stop()
    with (server.data / "postgresql.conf").open("a") as config:
        config.write("no_such_setting = 1\n")
    with pytest.raises(ServerProblem, match=r"no_such_setting|configuration file"):
        EmbeddedPostgres.start(home)
    (server.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(ServerProblem, match="was created by Postgres 9"):
        EmbeddedPostgres.start(home)
    (home / "postgres.json").rename(home / "lost.json")
    with pytest.raises(ServerProblem, match=r"no postgres\.json"):
        EmbeddedPostgres.start(home)
    (home / "lost.json").rename(home / "postgres.json")
    shutil.rmtree(server.data)
    with pytest.raises(ServerProblem, match="is gone"):
        EmbeddedPostgres.start(home)


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


IN_PROC = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="finds the lifeline's processes in /proc"
)


@pytest.mark.parametrize("orphaned", [False, pytest.param(True, marks=IN_PROC)])
async def test_the_server_of_a_killed_owner_keeps_nothing_locked_nor_loses_any(
    home: Path, orphaned: bool
) -> None:
    """Even SIGKILL of the run leaves no server behind. One that outlived it, lifeline and all, is stopped."""
    owner, url, data = started_owner(home)
    await write(url, "committed")
    pid = recorded_pid(data / "postmaster.pid")
    assert pid is not None and serves(pid, data)
    for helper in lifeline_of(pid) if orphaned else ():
        os.kill(helper, signal.SIGKILL)
    owner.kill()
    owner.wait()
    if orphaned:
        assert serves(pid, data)
    else:
        wait_until(lambda: not serves(pid, data))
    with EmbeddedPostgres.start(home) as server:
        assert not serves(pid, data)
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


def test_a_recorded_pid_that_another_process_now_has_is_ignored(home: Path) -> None:
    """After a reboot another process may have the recorded pid. It must not block the start or be killed."""
    first = EmbeddedPostgres.start(home, durable=False)
    first.stop()
    mark = first.data / "postmaster.pid"
    mark.write_text(f"{os.getpid()}\n{first.data}\n0\n{first.port}\n\n127.0.0.1\n\nready\n")
    with EmbeddedPostgres.start(home, durable=False) as second:
        assert second.alive


async def test_a_moved_home_keeps_its_data_and_a_copied_one_runs_next_to_it(home: Path) -> None:
    """Each serves its own data; neither stops the other's server."""
    with EmbeddedPostgres.start(home, durable=False) as server:
        await write(server.url, "original")
    moved, copy = home.with_name("moved"), home.with_name("copy")
    shutil.move(home, moved)
    shutil.copytree(moved, copy, symlinks=True)
    # As root it loses the owner of the data folder.
    for path in (moved / "postgres", *(moved / "postgres").rglob("*")):
        shutil.chown(copy / path.relative_to(moved), path.stat().st_uid, path.stat().st_gid)
    with (
        EmbeddedPostgres.start(moved, durable=False) as first,
        EmbeddedPostgres.start(copy, durable=False) as second,
    ):
        await write(second.url, "copied")
        assert await read(first.url) == ["original"]
        assert sorted(await read(second.url)) == ["copied", "original"]
        assert first.alive and second.alive


def test_a_copy_never_takes_data_outside_the_original(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Postgres cannot enter the home its data is elsewhere, and a copied home names the same place."""
    monkeypatch.setattr(RunAs, "can_enter", lambda self, folder: "outside" in str(folder))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(home.parent / "outside"))
    with EmbeddedPostgres.start(home, durable=False) as server:
        assert not server.data.is_relative_to(home)
        copy = home.with_name("copy")
        shutil.copytree(home, copy, symlinks=True)
        with pytest.raises(ServerProblem, match="Another run"):
            EmbeddedPostgres.start(copy, durable=False)
        assert server.alive
    with pytest.raises(ServerProblem, match="is a copy of"):
        EmbeddedPostgres.start(copy, durable=False)
    shutil.rmtree(home)
    EmbeddedPostgres.start(copy, durable=False).stop()
