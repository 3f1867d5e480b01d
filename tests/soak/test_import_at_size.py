"""A million lines through `studioctl import`: bounded memory, a broken line, and ten that have changed."""

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
CHANGED = 10
MEGABYTES = 300
# One log record for each of the unchanged lines would be far more.
MOST_WAL_BYTES = 64 * 1024 * 1024
START = datetime(2030, 1, 1, tzinfo=UTC)


def write_lines(path: Path, ids: list[str], changed: range) -> None:
    """Lines count from one."""
    with path.open("w") as file:
        for number, class_id in enumerate(ids, start=1):
            title = "Changed" if number in changed else "Flow"
            start = START + timedelta(minutes=number)
            line = json.dumps(import_lines.class_(id=class_id, title=title, start_time=start))
            file.write("{broken\n" if number == BROKEN else f"{line}\n")


async def test_a_million_lines_and_ten_that_changed(database_url: str, tmp_path: Path) -> None:
    """The memory of server and command stays bounded; line 500,000 is broken and is named each time.

    The first load has no events, the second has ten; time and memory of both are printed.
    """
    path, ids = tmp_path / "million.ndjson", [new_id() for _ in range(LINES)]
    report = tmp_path / "report"
    with embedded_system(tmp_path, database_url) as running:
        async with new_studio_in(running) as system, connected(database_url) as conn:
            partner = system.partner(await system.key())
            words = ("import", str(path), "--studio", system.studio_id)
            write_lines(path, ids, range(0))
            first = await asyncio.to_thread(studioctl, running, *words, "--no-events", out=report)
            shown, told = json.loads(report.read_text()), report.with_suffix(".err").read_text()
            assert (shown["lines"], shown["imported"], shown["rejected_count"]) == (LINES, LINES - 1, 1)
            assert shown["rejected"][0]["line"] == BROKEN
            assert told.startswith(f"line {BROKEN}: ")
            assert (await partner.get("/events")).json()["latest_sequence"] == 0
            write_lines(path, ids, range(1, LINES, LINES // CHANGED))
            before = await conn.fetchval("SELECT pg_current_wal_lsn()")
            second = await asyncio.to_thread(studioctl, running, *words, out=report)
            wal = await conn.fetchval("SELECT pg_current_wal_lsn() - $1::pg_lsn", before)
            page = await partner.until("/events", lambda page: page["latest_sequence"] >= CHANGED, limit=200)
            peak = max(served(running), first.peak, second.peak)
    print(
        f"\nimport: {LINES:,} lines in {first.seconds:.0f} s the first time; with {CHANGED} changed lines in "
        f"{second.seconds:.0f} s and {wal / 1024:.0f} KiB of WAL; {peak:.0f} MB at most in the services and "
        "in studioctl"
    )
    assert (first.code, second.code) == (1, 1)
    assert [event["type"] for event in page["data"]] == ["class.updated"] * CHANGED
    assert wal < MOST_WAL_BYTES
    assert peak < MEGABYTES
