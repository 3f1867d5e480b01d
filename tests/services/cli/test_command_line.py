"""The command line: an example for each command, completion, and readable error messages."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any, get_args

import pytest

from services.cli.local_commands import Service
from services.cli.main import application, completion_script, run_command
from services.cli.requests import AN_ID
from services.cli.values import duration, in_zone, moment, span
from shared.settings import SERVICES
from tests.harness.system import ROOT, STUDIOCTL, environment_for


def leaves(current: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    below = getattr(current, "commands", {})
    if not below:
        yield words
    for name, one in below.items():
        yield from leaves(one, (*words, name))


COMMANDS = sorted(leaves(application()))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` ends in one line to copy; it begins with the command and parses."""
    assert run_command([*words, "--help"]) == 0
    example = re.split(r"example:\n +studioctl ", capsys.readouterr().out)[1].strip()
    typed = shlex.split(example.partition(" > ")[0])
    assert tuple(typed[: len(words)]) == words
    command: Any = application()
    for word in words:
        command = command.commands[word]
    assert command.make_context(" ".join(words), typed[len(words) :]).params is not None


def test_the_desks_commands_are_all_there() -> None:
    """Everything that a desk does has a command."""
    wanted = """
        classes list|classes create|classes change|classes cancel|classes roster
        |bookings check-in|bookings no-show|bookings undo|bookings cancel|bookings moves
        |members list|members show|members erase
        |memberships list|memberships pause|memberships resume|memberships cancel
        |purchases record|purchases list|webhooks endpoints|webhooks deliveries|webhooks retry
        |webhooks recover|events list|completion"""
    names = {" ".join(part.split()) for part in wanted.split("|")}
    assert names <= {" ".join(words) for words in COMMANDS}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["keys", "rotate", "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55", "--overlap", "soon"], "write 90d, 24h"),
        (["keys", "show", "12"], "an id has 36 characters"),
        (["studios", "create", "--name", "A", "--slug", "A B", "--timezone", "UTC"], "lower-case letters"),
        (["classes", "list", "--since", "monday"], "write 2026-08-03"),
        (["sequences", "advance", "--by", "999999"], "1000000 or more"),
        (["purchases", "record", "--member", "a@b.co", "--product", "x"], "an id has 36 characters"),
        (["up", "--port", "0"], "not a port number from 1 to 65535"),
    ],
)
def test_an_unreadable_value_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and no regular expression in the message."""
    code = run_command(words)
    said = capsys.readouterr().err
    assert code == 2
    assert told in said
    assert "regex" not in said and "[a-z" not in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["memberships", "pause", AN_ID, "--for", "3d", "--until", "2026-08-03"],
            "--for or --until, not both",
        ),
        (["clients", "set", "Partner Inc"], "--rate, --burst or both"),
        (["classes", "change", AN_ID], "at least one change"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_anything_is_sent(
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Wrong usage is exit code 2, also where no system is running."""
    monkeypatch.setenv("STUDIO_HOME", str(tmp_path))
    assert run_command(words) == 2
    assert told in capsys.readouterr().err


def test_durations_are_read_and_written_the_same_way() -> None:
    """24h in, 24h out."""
    for text in ("45s", "30m", "24h", "7d"):
        assert span(duration(text)) == text
    assert in_zone(moment("2026-08-03T18:30+02:00"), UTC).isoformat() == "2026-08-03T18:30:00+02:00"
    assert in_zone(moment("2026-08-03"), UTC).isoformat() == "2026-08-03T00:00:00+00:00"


def completed(*words: str) -> list[str]:
    """What bash offers after these words, the last one half typed."""
    typed = " ".join(shlex.quote(word) for word in ("studioctl", *words))
    shell = f"""{completion_script("bash")}
COMP_WORDS=({typed})
COMP_CWORD={len(words)}
_studioctl_completion studioctl
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", shell], env={"PATH": path}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_shell_completes_commands_and_options() -> None:
    """By the place on the line: nouns, commands, options and choices."""
    assert {"classes", "bookings", "members", "memberships"} <= set(completed(""))
    assert completed("mem") == ["members", "memberships"]
    assert completed("classes", "ro") == ["roster"]
    assert "--overlap" in completed("keys", "rotate", "--")
    assert "--studio" in completed("--json", "classes", "list", "--s")
    assert {"gateway", "webhooks"} <= set(completed("serve", ""))
    assert completed("keys", "list", "--js") == ["--json"]


def test_every_service_can_be_served() -> None:
    """The command line has its own list: it must not load the settings for `--help`."""
    assert get_args(Service) == SERVICES


def test_version_and_completion_need_no_running_system() -> None:
    """Both answer from the installed package alone."""
    environment = environment_for(ROOT / "nowhere")
    for words in (["--version"], *(["completion", shell] for shell in ("bash", "zsh", "fish"))):
        argv = [*STUDIOCTL, *words]
        done = subprocess.run(argv, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        assert "studioctl" in done.stdout
