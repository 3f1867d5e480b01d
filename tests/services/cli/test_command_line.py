"""The command line: examples, completion, readable error messages, and what a process loads."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from services.cli.main import application, completion_script, run_command
from services.cli.requests import AN_ID
from services.cli.values import duration, in_zone, moment, span


def leaves(current: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    below = getattr(current, "commands", {})
    if not below:
        yield words
    for name, one in below.items():
        yield from leaves(one, (*words, name))


COMMANDS = sorted(leaves(application()))
KEY = ["keys", "create", "--studio", "s", "--name", "P", "--scopes", "all"]


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
        (["migrate", "nothing"], "There is no service nothing"),
        (["keys", "lsit"], "Did you mean 'list'"),
        (["clases"], "Did you mean 'classes'"),
        ([*KEY, "--expires-in", ""], "write 90d, 24h"),
        ([*KEY, "--locations", ""], "--locations"),
        (["webhooks", "listen", "--secret", "hush"], "A secret is whsec_ and"),
        (["webhooks", "listen", "--secret", "whsec_é"], "A secret is whsec_ and"),
        (["webhooks", "listen", "--secret", "whsec_QUJD"], "A secret is whsec_ and"),
        (["webhooks", "listen", "--events", "nope"], "nope"),
        (
            ["memberships", "pause", AN_ID, "--for", "3d", "--until", "2026-08-03"],
            "--for or --until, not both",
        ),
        (["clients", "set", "Partner Inc"], "--rate, --burst or --hold-share"),
        (["classes", "change", AN_ID], "at least one change"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_sent(
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Exit code 2, also where no system is running, and no regular expression in the message."""
    monkeypatch.setenv("STUDIO_HOME", str(tmp_path))
    assert run_command(words) == 2
    said = capsys.readouterr().err
    assert told in said
    assert "regex" not in said and "[a-z" not in said


def test_a_command_without_a_running_system_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Exit code 1; wrong usage is 2."""
    monkeypatch.setenv("STUDIO_HOME", str(tmp_path))
    monkeypatch.delenv("STUDIO_OPERATOR_TOKEN", raising=False)
    assert run_command(["keys", "list"]) == 1
    assert "STUDIO_OPERATOR_TOKEN" in capsys.readouterr().err


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


def test_version_and_completion_need_no_running_system(capsys: pytest.CaptureFixture[str]) -> None:
    """Both answer from the installed package alone."""
    for words in (["--version"], *(["completion", shell] for shell in ("bash", "zsh", "fish"))):
        assert run_command(words) == 0
        assert "studioctl" in capsys.readouterr().out


SERVE = """
import sys
import services.cli.main
import services.cli.serve, services.catalog.app
from shared.observability.tracing import set_up_tracing
from shared.settings import Settings
set_up_tracing(Settings(), "catalog")
print(*sys.modules, sep="\\n")
"""
COMMAND = """
import sys
from services.cli.main import run_command
run_command(sys.argv[1:])
print(*sys.modules, sep="\\n")
"""


def loaded(code: str, *words: str) -> set[str]:
    environment = {"STUDIO_OPERATOR_TOKEN": "none", "STUDIO_OPERATOR_URL": "http://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, env=environment
    )
    return set(done.stdout.split())


def test_serving_one_service_loads_neither_the_others_nor_what_only_a_terminal_shows() -> None:
    """Each `serve` would load it for nothing: other services, `up`, the broker's client.

    structlog 26.1 imports rich if it can, which costs 0.1 s and 3 MB.
    """
    modules = loaded(SERVE)
    assert "services.catalog.app" in modules
    kept_out = {"services.gateway", "services.bookings", "services.all_in_one", "services.cli.up"}
    kept_out |= {"rich.console", "rich.progress", "aiohttp", "aio_pika", "opentelemetry"}
    kept_out |= {"rich", "pygments", "sqlite3", "email_validator", "phonenumbers", "yaml"}
    assert not kept_out & modules


def test_help_and_completion_load_nothing_but_the_table_of_commands() -> None:
    """A shell starts `studioctl` for each Tab, so it must not load what only a running command needs."""
    modules = loaded(COMMAND, "--help")
    assert "services.cli.desk_requests" in modules
    assert not {"shared", "msgspec", "structlog", "rich", "asyncio", "http.client", "ssl"} & modules
