"""A million lines through `studioctl import`: bounded memory, one broken line, and ten changed ones."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.databases import connected
from tests.harness.system import embedded_system, new_studio_in
from tests.soak.studioctl import served, studioctl

LINES = 1_000_000
BROKEN = 500_000
MEGABYTES = 300


async def test_a_million_lines_stay_under_300_megabytes(database_url: str, tmp_path: Path) -> None:
    """The server's and the command's memory stay bounded; line 500,000 is broken and is named."""
    path = tmp_path / "million.ndjson"
    with path.open("w") as file:
        for number in range(1, LINES + 1):
            line = {"object": "class_type", "id": new_id(), "name": f"Type {number}", "description": "x" * 80}
            file.write("{broken\n" if number == BROKEN else json.dumps(line) + "\n")
    with embedded_system(tmp_path, database_url) as running:
        async with new_studio_in(running) as system:
            words = ("import", str(path), "--studio", system.studio_id)
            done = await asyncio.to_thread(studioctl, running, *words, out=tmp_path / "report")
            report = json.loads((tmp_path / "report").read_text())
            told = (tmp_path / "report.err").read_text()
            print(
                f"\nimport: {LINES:,} lines in {done.seconds:.0f} s, {served(running):.0f} MB in "
                f"the services at most, {done.peak:.0f} MB in studioctl at most; "
                f"unaccounted for: {LINES - 1 - report['imported']}"
            )
            assert done.code == 1
            assert (report["lines"], report["imported"], report["rejected_count"]) == (LINES, LINES - 1, 1)
            assert report["rejected"][0]["line"] == BROKEN
            assert told.startswith(f"line {BROKEN}: ")
            assert max(served(running), done.peak) < MEGABYTES


CHANGED = 10
# One log record for each of the rest would be far more.
MOST_WAL_BYTES = 64 * 1024 * 1024
START = datetime(2030, 1, 1, tzinfo=UTC)


def write_lines(path: Path, ids: list[str], changed: range) -> None:
    with path.open("w") as file:
        for number, class_id in enumerate(ids):
            title = "Changed" if number in changed else "Flow"
            start = START + timedelta(minutes=number)
            file.write(json.dumps(import_lines.class_(id=class_id, title=title, start_time=start)) + "\n")


async def test_ten_changed_lines_of_a_million_give_ten_events(database_url: str, tmp_path: Path) -> None:
    """The first load has no events, the second has ten; time and memory of both are printed."""
    path, ids = tmp_path / "million.ndjson", [new_id() for _ in range(LINES)]
    with embedded_system(tmp_path, database_url) as running:
        async with new_studio_in(running) as system:
            partner = system.partner(await system.key())
            words = ("import", str(path), "--studio", system.studio_id)
            write_lines(path, ids, range(0))
            first = studioctl(running, *words, "--no-events", out=tmp_path / "report")
            assert (await partner.get("/events")).json()["latest_sequence"] == 0
            write_lines(path, ids, range(0, LINES, LINES // CHANGED))
            async with connected(database_url) as conn:
                before = await conn.fetchval("SELECT pg_current_wal_lsn()")
                second = studioctl(running, *words, out=tmp_path / "report")
                wal = await conn.fetchval("SELECT pg_current_wal_lsn() - $1::pg_lsn", before)
            told = await partner.until("/events", lambda page: page["latest_sequence"] >= CHANGED, limit=200)
            events = told["data"]
            peak = max(served(running), first.peak, second.peak)
            print(
                f"\nimport: {LINES:,} lines in {first.seconds:.0f} s the first time; with {CHANGED} changed "
                f"lines in {second.seconds:.0f} s, {len(events)} events, {wal / 1024:.0f} KiB of WAL; "
                f"{peak:.0f} MB at most in the services and in studioctl"
            )
            assert (first.code, second.code) == (0, 0)
            assert [event["type"] for event in events] == ["class.updated"] * CHANGED
            assert wal < MOST_WAL_BYTES
            assert peak < MEGABYTES
