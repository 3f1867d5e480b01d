"""`studioctl up` on a terminal, where the progress display once crashed it."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from shared.servers.ports import free_port
from tests.harness.http import Client
from tests.harness.system import ROOT, STUDIOCTL, environment_for
from tests.harness.terminal import Terminal, on_a_terminal
from tests.shared.servers.rows import wait_until

pytestmark = pytest.mark.timeout(180)


@contextmanager
def up(home: Path, *words: str) -> Iterator[tuple[Terminal, str]]:
    port = free_port()
    argv = [*STUDIOCTL, "up", "--port", str(port), "--operator-port", str(free_port()), *words]
    # Without the tests' own settings, which a new user does not have.
    environment = environment_for(home)
    for name in ("STUDIO_LOG_FORMAT", "STUDIO_WEBHOOK_ALLOW_HTTP", "STUDIO_WEBHOOK_ALLOW_HOSTS"):
        environment.pop(name)
    with on_a_terminal(argv, environment, ROOT) as terminal:
        yield terminal, f"http://127.0.0.1:{port}"


def key_of(terminal: Terminal) -> str:
    return next(line for line in terminal.text.splitlines() if line.startswith("spk_live_"))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Terminal, str, Path]]:
    """One start for the tests that only look at it: the terminal, the URL and the home. Ctrl-C ends it."""
    home = tmp_path_factory.mktemp("terminal") / "home"
    with up(home) as (terminal, url):
        terminal.wait_for("Ctrl-C stops everything")
        yield terminal, url, home
        terminal.interrupt()
        assert terminal.exit_code() == 0
        assert "Traceback" not in terminal.text


@pytest.fixture
async def partner(running: tuple[Terminal, str, Path]) -> AsyncIterator[Client]:
    terminal, url, _ = running
    async with aiohttp.ClientSession() as session:
        yield Client(session, f"{url}/partner/v1", {"X-Service-Key": key_of(terminal)})


def test_a_start_shows_its_steps_a_key_and_what_to_try(running: tuple[Terminal, str, Path]) -> None:
    """Each step names itself and the seconds. The base URL leads a browser to the reference."""
    terminal, url, _ = running
    assert key_of(terminal)
    for shown in (f"{url}/partner/v1", f"{url}/docs", "curl -sS -H"):
        assert shown in terminal.text
    for shown in ("Loading the services", "Starting Postgres", "Starting the services"):
        assert re.search(rf"{shown} … \d+ s", terminal.text)
        assert re.search(rf"{shown}: \d+\.\d s", terminal.text)
    with urllib.request.urlopen(f"{url}/", timeout=10) as response:
        assert response.url == f"{url}/docs"
        assert b"<html" in response.read()


async def test_requests_are_logged_to_the_file_that_the_screen_names(
    running: tuple[Terminal, str, Path], partner: Client
) -> None:
    """A request's log line is in the file, as JSON, and not on the terminal."""
    terminal, _, home = running
    assert str(home / "studio.log") in terminal.text
    await partner.get("/studio", headers={"X-Request-Id": "seen-in-the-file"})
    wait_until(lambda: "seen-in-the-file" in (home / "studio.log").read_text())
    lines = [json.loads(line) for line in (home / "studio.log").read_text().splitlines()]
    assert any(line.get("request_id") == "seen-in-the-file" for line in lines)
    assert "seen-in-the-file" not in terminal.drain()


async def test_an_own_receiver_may_have_plain_http_and_nobody_elses(partner: Client) -> None:
    """Under `up` loopback over http is allowed; other hosts are not, and the refusal names the setting."""
    hosts = {"127.0.0.1:9": 201, "localhost:9": 201, "example.com": 422, "10.0.0.1": 422}
    for host, status in hosts.items():
        reply = await partner.post("/webhook-endpoints", {"url": f"http://{host}/hook"})
        assert reply.status == status, host
        assert host != "example.com" or b"STUDIO_WEBHOOK_ALLOW_HTTP" in reply.body


def test_verbose_brings_the_request_log_back_to_the_screen(tmp_path: Path) -> None:
    """`up --verbose` writes no file."""
    with up(tmp_path / "home", "--no-demo", "--verbose") as (terminal, url):
        terminal.wait_for("Ctrl-C stops everything")
        request = urllib.request.Request(f"{url}/partner/v1/studio", headers={"X-Request-Id": "seen-here"})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request, timeout=10)
        terminal.wait_for("seen-here")
    assert not (tmp_path / "home" / "studio.log").exists()
