"""A million lines through `studioctl import`: bounded memory on both sides, the one broken line named."""

import asyncio
import json
from pathlib import Path

from shared.wire import new_id
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
