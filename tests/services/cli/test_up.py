"""`studioctl up` for a new user: first start, second start, and one sentence for each problem."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.cli.demo import STUDIO_ID
from shared.servers.ports import free_port
from tests.harness.system import ROOT, Process, environment_for


@contextmanager
def up(home: Path, *words: str) -> Iterator[tuple[Process, int, int]]:
    """The embedded system with its own Postgres, as `make up` starts it."""
    port, operator_port = free_port(), free_port()
    process = Process(
        ["up", "--port", str(port), "--operator-port", str(operator_port), *words],
        environment_for(home),
        f"http://127.0.0.1:{port}/health/ready",
        home.parent / "up.log",
    )
    process.start()
    try:
        process.wait_ready()
        yield process, port, operator_port
    finally:
        process.stop()


def run(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "services.cli.main", *words],
        env=environment_for(home),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_data_and_secrets_survive_a_clean_stop_and_a_kill(tmp_path: Path) -> None:
    """Ctrl-C ends with exit code 0; the next start goes on with the same data, also after kill -9."""
    home = tmp_path / "home"
    with up(home, "--no-demo") as (process, _, _):
        made = run(home, "studios", "create", "--name", "S", "--slug", "s", "--timezone", "UTC")
        assert made.returncode == 0, made.stderr
        assert process.child is not None
        process.child.send_signal(signal.SIGINT)
        assert process.child.wait(30) == 0
    kept = json.loads((home / "secrets.json").read_text())
    assert stat.S_IMODE((home / "secrets.json").stat().st_mode) == 0o600
    with up(home, "--no-demo") as (process, _, _):
        process.kill()
    with up(home, "--no-demo"):
        listed = json.loads(run(home, "studios", "list").stdout)
        assert [studio["slug"] for studio in listed["data"]] == ["s"]
    assert json.loads((home / "secrets.json").read_text()) == kept


def test_the_demo_key_is_printed_and_kept(tmp_path: Path) -> None:
    """The first start makes a key, the second prints the same one; both print curl lines and the docs."""
    home = tmp_path / "home"
    keys = []
    for _ in range(2):
        (tmp_path / "up.log").unlink(missing_ok=True)
        with up(home):
            while "Ctrl-C stops" not in (text := (tmp_path / "up.log").read_text()):
                pass
            keys.append(next(line for line in text.splitlines() if line.startswith("spk_live_")))
            assert text.count("curl -sS -w") == 3
            assert "/docs" in text
    assert keys[0] == keys[1]
    assert stat.S_IMODE((home / "demo_key.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("which", ["--port", "--operator-port"])
def test_a_port_in_use_is_one_sentence(tmp_path: Path, which: str) -> None:
    """Said before anything is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = str(taken.getsockname()[1])
        other = "--operator-port" if which == "--port" else "--port"
        done = run(tmp_path / "home", "up", which, number, other, str(free_port()))
    assert done.returncode == 1
    assert number in done.stderr
    assert "in use" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_home_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """A file in the home's place simulates a folder that cannot be created, even by root."""
    (tmp_path / "home").write_text("not a folder")
    done = run(tmp_path / "home", "up", "--port", str(free_port()), "--operator-port", str(free_port()))
    assert done.returncode == 1
    assert str(tmp_path / "home") in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_one_port_for_both_apis_is_one_sentence(tmp_path: Path) -> None:
    """Otherwise the two would share it."""
    number = str(free_port())
    done = run(tmp_path / "home", "up", "--port", number, "--operator-port", number)
    assert done.returncode == 1
    assert "port of its own" in done.stderr
    assert run(tmp_path / "home", "up", "--port", "99999").returncode == 2


def test_a_demo_that_was_cut_off_is_loaded_by_the_next_start(tmp_path: Path) -> None:
    """If the first start is killed at the worst moments, the next one still has classes."""
    home = tmp_path / "home"
    log = tmp_path / "up.log"
    with up(home, "--no-demo") as (_, _, _):
        made = run(
            home, "studios", "create", "--name", "D", "--slug", "demo", "--timezone", "UTC", "--id", STUDIO_ID
        )
        assert made.returncode == 0, made.stderr
    log.unlink()
    with up(home) as (_, port, _):
        while "Ctrl-C stops" not in (text := log.read_text()):
            pass
        key = next(line for line in text.splitlines() if line.startswith("spk_live_"))
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/partner/v1/classes", headers={"X-Service-Key": key}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["data"]


def test_two_runs_on_one_home_are_told_apart(tmp_path: Path) -> None:
    """The second one says that the first is running, and leaves it alone."""
    home = tmp_path / "home"
    with up(home, "--no-demo") as (process, _, _):
        second = run(home, "up", "--port", str(free_port()), "--operator-port", str(free_port()))
        assert second.returncode == 1
        assert "Traceback" not in second.stderr
        assert process.child is not None
        assert process.child.poll() is None
        assert run(home, "status").returncode == 0


def test_commands_without_a_running_system_say_so(tmp_path: Path) -> None:
    """Exit code 1 and one sentence; wrong usage is 2."""
    done = run(tmp_path, "keys", "list")
    assert done.returncode == 1
    assert "STUDIO_OPERATOR_TOKEN" in done.stderr
    os.environ.pop("STUDIO_OPERATOR_TOKEN", None)
    assert run(tmp_path, "keys", "lsit").returncode == 2
    assert run(tmp_path, "migrate", "nothing").returncode == 2
