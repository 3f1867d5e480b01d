"""`studioctl up` for a new user: first start, second start, and one sentence for each problem."""

import json
import os
import signal
import socket
import stat
import subprocess
import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from services.cli.demo import STUDIO_ID
from shared.servers.ports import free_port
from shared.servers.postgres_data import lock_home
from tests.harness.system import ROOT, STUDIOCTL, Process, environment_for, studioctl_up


def up(home: Path, *words: str) -> AbstractContextManager[tuple[Process, int, int]]:
    """The embedded system with its own Postgres, as `make up` starts it."""
    return studioctl_up(environment_for(home), home.parent / "up.log", *words)


def run(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*STUDIOCTL, *words],
        env=environment_for(home),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def refused_start(home: Path, *words: str) -> str:
    """Why `up` does not start: one sentence, and no traceback."""
    ports = words or ("--port", str(free_port()), "--operator-port", str(free_port()))
    done = run(home, "up", *ports)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


class Story(Struct):
    """What three starts on one home have shown."""

    exit_code: int | None = None
    second_run: str = ""
    first_status: int | None = None
    secrets: list[Any] = []
    texts: list[str] = []
    demo_classes: list[Any] = []
    slugs: list[str] = []
    home: Path = Path()

    def keys(self) -> list[str]:
        return [
            next(line for line in text.splitlines() if line.startswith("spk_live_")) for text in self.texts
        ]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Without the demo and stopped by Ctrl-C, with a demo that was cut off and killed, and once more.

    Each start takes seconds, so all tests below look at the same three.
    """
    story = Story(home=tmp_path_factory.mktemp("up") / "home")
    home, secrets = story.home, story.home / "secrets.json"
    with up(home, "--no-demo") as (process, _, _):
        for words in (["S", "--slug", "s"], ["D", "--slug", "demo", "--id", STUDIO_ID]):
            made = run(home, "studios", "create", "--timezone", "UTC", "--name", *words)
            assert made.returncode == 0, made.stderr
        story.second_run = refused_start(home)
        story.first_status = run(home, "status").returncode
        assert process.child is not None
        process.child.send_signal(signal.SIGINT)
        story.exit_code = process.child.wait(30)
    story.secrets.append(json.loads(secrets.read_text()))
    for number in range(2):
        (home.parent / "up.log").unlink()
        with up(home) as (process, port, _):
            process.wait_for_text("Ctrl-C stops")
            story.texts.append((home.parent / "up.log").read_text())
            if number == 0:
                story.demo_classes = classes(port, story.keys()[0])
                # As if the sample event were too old to be kept.
                pruned = run(home, "events", "prune", "--studio", "demo", "--through", "1000", "--yes")
                assert pruned.returncode == 0, pruned.stderr
                process.kill()
            else:
                listed = json.loads(run(home, "studios", "list").stdout)
                story.slugs = [studio["slug"] for studio in listed["data"]]
        story.secrets.append(json.loads(secrets.read_text()))
    return story


def classes(port: int, key: str) -> list[Any]:
    url = f"http://127.0.0.1:{port}/partner/v1/classes"
    request = urllib.request.Request(url, headers={"X-Service-Key": key})
    with urllib.request.urlopen(request, timeout=10) as response:
        found: list[Any] = json.load(response)["data"]
    return found


def test_data_and_secrets_survive_a_clean_stop_and_a_kill(story: Story) -> None:
    """Ctrl-C ends with exit code 0; the next start goes on with the same data, also after kill -9."""
    assert story.exit_code == 0
    assert sorted(story.slugs) == ["demo", "s"]
    assert len(story.secrets) == 3 and all(kept == story.secrets[0] for kept in story.secrets)
    assert stat.S_IMODE((story.home / "secrets.json").stat().st_mode) == 0o600


def test_the_demo_key_is_printed_and_kept(story: Story) -> None:
    """The first start with a demo makes a key, the next prints it again; both print curl lines and docs."""
    first, second = story.keys()
    assert first == second
    for text in story.texts:
        assert text.count("curl -sS -H") == 3
        assert "/docs" in text
    assert stat.S_IMODE((story.home / "demo_key.json").stat().st_mode) == 0o600


def test_a_demo_that_was_cut_off_is_loaded_by_the_next_start(story: Story) -> None:
    """The demo's studio was there and nothing in it, as after a kill; the next start has classes."""
    assert story.demo_classes


def test_two_runs_on_one_home_are_told_apart(story: Story) -> None:
    """The second one says that the first is running, and leaves it alone."""
    assert "Another run" in story.second_run
    assert story.first_status == 0


def test_a_first_start_makes_no_secrets_in_a_home_that_another_first_start_has_locked(tmp_path: Path) -> None:
    """Both would make their own, and the one that is written last would not be the one in use."""
    home = tmp_path / "home"
    with lock_home(home, "up.lock"):
        # The other one has not made its secrets yet.
        reason = refused_start(home)
        assert [path.name for path in home.iterdir()] == ["up.lock"]
    assert str(home) in reason and str(os.getpid()) in reason


@pytest.mark.parametrize("which", ["--port", "--operator-port"])
def test_a_port_in_use_is_one_sentence(tmp_path: Path, which: str) -> None:
    """Said before anything is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = str(taken.getsockname()[1])
        other = "--operator-port" if which == "--port" else "--port"
        reason = refused_start(tmp_path / "home", which, number, other, str(free_port()))
    assert number in reason and "in use" in reason


def test_a_home_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """A file in the home's place simulates a folder that cannot be created, even by root."""
    (tmp_path / "home").write_text("not a folder")
    assert str(tmp_path / "home") in refused_start(tmp_path / "home")


def test_one_port_for_both_apis_is_one_sentence(tmp_path: Path) -> None:
    """Otherwise the two would share it."""
    number = str(free_port())
    reason = refused_start(tmp_path / "home", "--port", number, "--operator-port", number)
    assert "port of its own" in reason
    assert run(tmp_path / "home", "up", "--port", "99999").returncode == 2


def test_commands_without_a_running_system_say_so(tmp_path: Path) -> None:
    """Exit code 1 and one sentence; wrong usage is 2."""
    done = run(tmp_path, "keys", "list")
    assert done.returncode == 1
    assert "STUDIO_OPERATOR_TOKEN" in done.stderr
    os.environ.pop("STUDIO_OPERATOR_TOKEN", None)
    assert run(tmp_path, "keys", "lsit").returncode == 2
    assert run(tmp_path, "migrate", "nothing").returncode == 2
