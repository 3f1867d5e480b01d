"""`studioctl up` for a new user: first start, second start, and one sentence for each problem."""

import json
import os
import signal
import socket
import stat
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from services.cli.demo import STUDIO_ID
from shared.servers.ports import free_port
from shared.servers.postgres_data import lock_home
from tests.harness.system import ROOT, STUDIOCTL, Process, environment_for, studioctl_up


def up(home: Path, *words: str) -> AbstractContextManager[tuple[Process, int, int]]:
    """The embedded system with its own Postgres, as `make up` starts it."""
    return studioctl_up(environment_for(home), home.parent / "up.log", *words)


def run(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    argv, environment = [*STUDIOCTL, *words], environment_for(home)
    return subprocess.run(argv, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60)


def refused_start(home: Path, *words: str) -> str:
    """Why `up` does not start: one sentence, and no traceback."""
    ports = words or ("--port", str(free_port()), "--operator-port", str(free_port()))
    done = run(home, "up", *ports)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def key_in(text: str) -> str:
    """The demo's key, from a screen that also shows calls to try."""
    assert text.count("curl -sS -H") == 3 and "/docs" in text
    return next(line for line in text.splitlines() if line.startswith("spk_live_"))


@pytest.mark.timeout(180)
def test_three_starts_on_one_home_keep_data_secrets_and_the_demos_key(tmp_path: Path) -> None:
    """The first is stopped by Ctrl-C, with exit code 0, the second is killed. Another run is told apart.

    In the first a demo was cut off: its studio is there and nothing in it. The next start loads it.
    """
    home, log = tmp_path / "home", tmp_path / "up.log"
    with up(home, "--no-demo") as (process, _, _):
        assert "Another run" in refused_start(home)
        for words in (["S", "--slug", "s"], ["D", "--slug", "demo", "--id", STUDIO_ID]):
            made = run(home, "studios", "create", "--timezone", "UTC", "--name", *words)
            assert made.returncode == 0, made.stderr
        assert process.child is not None
        process.child.send_signal(signal.SIGINT)
        assert process.child.wait(30) == 0
    secrets = (home / "secrets.json").read_bytes()
    log.unlink()
    with up(home) as (process, _, _):
        process.wait_for_text("Ctrl-C stops")
        key = key_in(log.read_text())
        assert json.loads(run(home, "classes", "list", "--studio", "demo").stdout)["data"]
        # As if the sample event were too old to be kept.
        pruned = run(home, "events", "prune", "--studio", "demo", "--through", "1000", "--yes")
        assert pruned.returncode == 0, pruned.stderr
        process.kill()
    log.unlink()
    with up(home) as (process, _, _):
        process.wait_for_text("Ctrl-C stops")
        assert key_in(log.read_text()) == key
        studios = json.loads(run(home, "studios", "list").stdout)["data"]
        assert sorted(studio["slug"] for studio in studios) == ["demo", "s"]
    assert (home / "secrets.json").read_bytes() == secrets
    for private in ("secrets.json", "demo_key.json"):
        assert stat.S_IMODE((home / private).stat().st_mode) == 0o600


def test_a_first_start_makes_no_secrets_in_a_home_that_another_first_start_has_locked(tmp_path: Path) -> None:
    """Both would make their own, and the one that is written last would not be the one in use."""
    home = tmp_path / "home"
    with lock_home(home, "up.lock"):
        # The other one has not made its secrets yet.
        reason = refused_start(home)
        assert [path.name for path in home.iterdir()] == ["up.lock"]
    assert str(home) in reason and str(os.getpid()) in reason


@pytest.mark.parametrize(("one", "other"), [("--port", "--operator-port"), ("--operator-port", "--port")])
def test_a_port_in_use_is_one_sentence(tmp_path: Path, one: str, other: str) -> None:
    """Said before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = str(taken.getsockname()[1])
        reason = refused_start(tmp_path / "home", one, number, other, str(free_port()))
    assert number in reason and "in use" in reason


def test_a_home_that_cannot_be_written_and_one_port_for_both_apis_are_one_sentence(tmp_path: Path) -> None:
    """A file in the home's place simulates a folder that cannot be created, even by root."""
    home, number = tmp_path / "home", str(free_port())
    assert "port of its own" in refused_start(tmp_path / "new", "--port", number, "--operator-port", number)
    home.write_text("not a folder")
    assert str(home) in refused_start(home)
