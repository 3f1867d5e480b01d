"""studioctl against a running system: JSON when piped, --json anywhere, exit codes."""

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec import Struct

from services.cli.main import run_command
from services.cli.output import status_lines
from tests.harness import import_lines
from tests.harness.console import exchange, token_in
from tests.harness.system import System


class Done(Struct):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


async def studioctl(
    system: System, *words: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> Done:
    """In this process: a hundred starts of another one would take most of the time."""
    running = next(iter(system.running.processes.values())).environment
    address = {"STUDIO_OPERATOR_URL": system.running.operator_url}

    def run() -> Done:
        out, err = TextIOWrapper(BytesIO()), StringIO()
        with (
            patch.dict(os.environ, {**running, **(environment or {}), **address}),
            patch("sys.stdin", TextIOWrapper(BytesIO(stdin))),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = run_command(words)
            out.seek(0)
            return Done(code, out.read(), err.getvalue())

    return await asyncio.to_thread(run)


async def test_a_key_from_birth_to_revocation(system: System) -> None:
    """create, list, show, rotate, revoke: the fields of decisions.md, `key` only where it is made."""
    words = f"keys create --studio {system.studio_id} --name P --scopes studio:read,leads:read".split()
    made = (await studioctl(system, *words, "--client", "Partner", "--expires-in", "90d")).json()
    assert made["scopes"] == ["studio:read", "leads:read"]
    assert made["key"].startswith("spk_live_")
    shown = (await studioctl(system, "keys", "show", made["id"])).json()
    assert "key" not in shown
    rotated = (await studioctl(system, "--json", "keys", "rotate", made["id"], "--overlap", "2h")).json()
    assert rotated["client_id"] == made["client_id"]
    revoked = (await studioctl(system, "keys", "revoke", "--json", made["id"], "--yes")).json()
    assert revoked["revoked_at"] is not None
    listed = (await studioctl(system, "keys", "list", "--studio", system.studio_id)).json()["data"]
    assert [key["id"] for key in listed] == [made["id"], rotated["id"]]


async def test_a_script_says_yes_to_what_cannot_be_undone(system: System) -> None:
    """Without a terminal there is nobody to ask: without --yes nothing is done, with exit code 2."""
    key = await system.issue()
    client = system.partner(key["key"])
    person = {"email": f"kept-{system.studio_id}@example.com", "first_name": "Ada"}
    lead = (await client.post("/leads", person)).json()
    member = (await client.post("/members", person | {"last_name": "King", "phone": "+12125550123"})).json()
    for words in (f"keys revoke {key['id']}", f"members erase {member['id']}", f"leads erase {lead['id']}"):
        done = await studioctl(system, *words.split())
        assert (done.code, done.out, "--yes" in done.err) == (2, "", True), words
    for path in (f"/members/{member['id']}", f"/leads/{lead['id']}"):
        assert (await client.get(path)).json()["email"] == person["email"]
    erased = (await studioctl(system, "leads", "erase", lead["id"], "--yes")).json()
    assert erased["studio_id"] == system.studio_id
    assert (await client.get(f"/leads/{lead['id']}")).json()["email"] != person["email"]
    assert (await studioctl(system, "leads", "erase", system.studio_id, "--yes")).code == 1


async def test_a_clients_rate_is_set_by_name_or_id(system: System) -> None:
    """`clients set CLIENT --rate N --burst N`, seen by the very next request."""
    name = f"client-{system.studio_id}"
    issued = await system.issue(client=name)
    done = await studioctl(system, "clients", "set", name, "--rate", "7", "--burst", "9")
    assert (done.json()["rate"], done.json()["burst"]) == (7.0, 9)
    response = await system.partner(issued["key"]).get("/key")
    assert response.json()["rate_limit"] == {"requests_per_second": 7.0, "burst": 9}
    assert (await studioctl(system, "clients", "set", "nobody", "--rate", "7")).code == 1
    assert (await studioctl(system, "clients", "set", "nobody")).code == 2


async def test_import_reads_files_and_stdin(system: System, tmp_path: Path) -> None:
    """Exit code 0 when every line is good, 1 when one was bad; bad lines are named on stderr."""
    good = json.dumps(import_lines.location()).encode()
    path = tmp_path / "lines.ndjson"
    path.write_bytes(good)
    done = await studioctl(system, "import", str(path), "--studio", system.studio_id)
    assert (done.code, done.json()["imported"]) == (0, 1)
    done = await studioctl(system, "import", "-", "--studio", system.studio_id, stdin=good + b"\n{bad\n")
    assert (done.code, done.json()["rejected_count"]) == (1, 1)
    assert done.err.startswith("line 2: ")
    missing = await studioctl(system, "import", str(tmp_path / "nothing"))
    assert missing.code == 1
    assert "Traceback" not in missing.err


async def test_console_prints_the_operators_page_or_a_clients_link(system: System) -> None:
    """The link opens one session; an unknown client is refused."""
    page = (await studioctl(system, "console")).json()
    assert page["url"] == f"{system.running.operator_url}/console"
    issued = await system.issue(client="Console client")
    words = ("console", "--client", issued["client_id"], "--expires-in", "10m")
    made = (await studioctl(system, *words)).json()
    assert (await exchange(system, token_in(made["url"]))).status == 200
    unknown = await studioctl(system, "console", "--client", "nobody at all")
    assert unknown.code == 1 and "There is no such client" in unknown.err


def test_the_status_names_an_endpoint_that_fails() -> None:
    """All is not well while one does, or while deliveries wait for long."""
    failing = {
        "id": "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55",
        "studio_id": "9701deb4-cbf7-5d33-b4fd-6252e5149b8e",
        "url": "https://crm.example/hook",
        "description": "legacy CRM",
        "failing_since": (datetime.now(UTC) - timedelta(minutes=30)).isoformat(),
        "pending": 212,
        "last_error": {"error": "the endpoint responded with 500"},
    }
    figures = {
        "queues": [],
        "pending_deliveries": 212,
        "dead_deliveries": 0,
        "oldest_pending_seconds": 0.5,
        "failing_endpoints": [failing],
    }

    def said(**more: Any) -> str:
        return "\n".join(status_lines({"webhooks": {"status": "ready", "figures": figures | more}}))

    assert "legacy CRM (https://crm.example/hook) has failed for 30m, 212 waiting: the endpoint" in said()
    assert "\x1b[31m" in said() and "All well" not in said()
    assert "All well" in said(failing_endpoints=[])
    assert "the oldest for 30m" in said(failing_endpoints=[], oldest_pending_seconds=1800.0)
    waiting = said(outbox_waiting=5, outbox_overdue=2, outbox_age_seconds=90.0)
    assert "outbox 5 waiting (2 overdue), oldest 90s" in waiting
    hostile = said(failing_endpoints=[failing | {"description": "\x1b[2Jgone"}])
    assert "\x1b[2J" not in hostile
