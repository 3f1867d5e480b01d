"""studioctl as a person sees it, on a real terminal: tables, status, questions, progress, Ctrl-C."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.harness import import_lines
from tests.harness.system import ROOT, STUDIOCTL, System
from tests.harness.terminal import Terminal, on_a_terminal
from tests.services.bookings.samples import a_class, a_member


async def screen(
    system: System, *words: str, columns: int = 100, use: Callable[[Terminal], Any] = lambda _: None
) -> tuple[str, int]:
    """All that the command wrote, and its exit code. `use` types."""
    environment = next(iter(system.running.processes.values())).environment
    environment = environment | {"STUDIO_OPERATOR_URL": system.running.operator_url}

    def run() -> tuple[str, int]:
        with on_a_terminal([*STUDIOCTL, *words], environment, ROOT, columns=columns) as terminal:
            use(terminal)
            code = terminal.exit_code()
            return terminal.text, code

    text, code = await asyncio.to_thread(run)
    assert "Traceback" not in text
    return text, code


async def test_tables_never_cut_an_id_or_a_prefix_at_any_width(system: System) -> None:
    """A table if it fits, otherwise a block for each row; no line of a table is too long."""
    made = [await system.issue(client=f"partner with a long name {number}") for number in range(2)]
    for columns in (200, 100, 60, 30):
        text, code = await screen(system, "keys", "list", "--studio", system.studio_id, columns=columns)
        assert code == 0
        for key in made:
            assert key["id"] in text and key["prefix"] in text, text
        if columns >= 100:
            assert "revoked" in text.splitlines()[0]
            assert max(map(len, text.splitlines())) <= columns


async def test_a_desks_table_shows_the_studios_own_time(system: System) -> None:
    """Times are in the studio's zone, and said so."""
    class_ = a_class(start_time=None, title="Flow in the morning")
    class_ |= {"start_time": "2035-08-03T13:00:00Z", "end_time": "2035-08-03T14:00:00Z"}
    await system.import_lines([class_, a_member()])
    words = ("classes", "list", "--until", "2036-01-01", "--studio", system.studio_id)
    text, _ = await screen(system, *words)
    assert "2035-08-03" in text and "09:00" in text and "EDT" in text
    assert class_["id"] in text
    empty, _ = await screen(system, "purchases", "list", "--studio", system.studio_id)
    assert "Nothing yet." in empty


async def test_status_has_a_line_for_each_service_and_says_what_to_type(system: System) -> None:
    """The gateway is in it; outboxes, queues and deliveries in words; no JSON on the screen."""
    text, code = await screen(system, "status")
    lines = text.splitlines()
    for name in ("gateway", "catalog", "bookings", "forms", "webhooks"):
        assert any(line.startswith(name) for line in lines), text
    assert "outbox" in text and "dead" in text and "{" not in text
    assert code in (0, 1)
    queues, _ = await screen(system, "queues", "list")
    assert "waiting" in queues and "parked" in queues and "{" not in queues


async def test_a_question_is_asked_before_what_cannot_be_undone(system: System) -> None:
    """`n` and Enter mean no, `y` means yes; with --yes there is no question."""
    member = a_member()
    await system.import_lines([member])
    words = ("members", "erase", member["id"], "--studio", system.studio_id)

    def response(keys: str) -> Callable[[Terminal], None]:
        def typed(terminal: Terminal) -> None:
            terminal.wait_for("Go on? [y/N]")
            # As a person would, a moment later: Python notices a Ctrl-C just before its read only after it.
            terminal.drain()
            terminal.type(keys)

        return typed

    for keys in ("n\r", "\r"):
        text, code = await screen(system, *words, use=response(keys))
        assert (code, "Nothing was done." in text) == (1, True)
    kept = await system.operator.get(f"/studios/{system.studio_id}/members/{member['id']}")
    assert kept.json()["email"] == member["email"]
    _, code = await screen(system, *words, use=response("\x03"))
    assert code == 130
    _, code = await screen(system, *words, use=response("y\r"))
    assert code == 0
    gone = await system.operator.get(f"/studios/{system.studio_id}/members/{member['id']}")
    assert gone.json()["email"] is None
    key = await system.issue()
    text, code = await screen(system, "keys", "revoke", key["id"], "--yes")
    assert (code, "Go on?" in text) == (0, False)


async def test_an_import_shows_its_progress_and_names_bad_lines(system: System, tmp_path: Path) -> None:
    """A bar while it runs, the bad line by number, the totals at the end.

    Empty lines count as lines and cost nothing: they fill the first chunk of 5,000.
    """
    path = tmp_path / "lines.ndjson"
    members = [json.dumps(a_member()) for _ in range(83)]
    path.write_text("\n".join([*members, *[""] * 5917, "{bad"]))
    text, code = await screen(system, "import", str(path), "--studio", system.studio_id)
    assert code == 1
    # The bar is drawn ten times a second, and always at the start and at the end.
    assert "0 lines ━" in text and "6,001 lines ━" in text
    assert "line 6001: " in text
    assert re.search(r"imported\D+83\b", text)


async def test_ctrl_c_ends_an_import_with_a_word_about_what_is_done(system: System, tmp_path: Path) -> None:
    """Exit code 130, and no traceback."""
    path = tmp_path / "lines.ndjson"
    line = json.dumps(import_lines.location())
    with path.open("w") as file:
        for _ in range(60_000):
            file.write(line + "\n")

    def stop(terminal: Terminal) -> None:
        terminal.wait_for("lines")
        terminal.interrupt()

    text, code = await screen(system, "import", str(path), "--studio", system.studio_id, use=stop)
    assert code == 130
    assert "Importing the file again is safe." in text
