"""A million lines through `studioctl import`: bounded memory on both sides, the one broken line named."""

import json
import subprocess
import sys
import time
from pathlib import Path

import aiohttp

from shared.wire import new_id
from tests.harness.system import ROOT, System, embedded_system

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
        async with aiohttp.ClientSession() as session:
            system = System(running, session)
            system.studio_id = await system.new_studio()
            started = time.monotonic()
            command = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "services.cli.main",
                    "import",
                    str(path),
                    "--studio",
                    system.studio_id,
                ],
                env=running.processes["up"].environment | {"STUDIO_OPERATOR_URL": running.operator_url},
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            peak = 0.0
            while command.poll() is None:
                peak = max(peak, megabytes(command.pid))
                time.sleep(0.2)  # noqa: ASYNC251
            seconds = time.monotonic() - started
            assert command.stdout is not None
            assert command.stderr is not None
            report, told = json.loads(command.stdout.read()), command.stderr.read().decode()
            server = running.processes["up"].child
            assert server is not None
            served = megabytes(server.pid)
            print(
                f"\nimport: {LINES:,} lines in {seconds:.0f} s, {served:.0f} MB in the services at most, "
                f"{peak:.0f} MB in studioctl at most; unaccounted for: {LINES - 1 - report['imported']}"
            )
            assert command.returncode == 1
            assert (report["lines"], report["imported"], report["rejected_count"]) == (LINES, LINES - 1, 1)
            assert report["rejected"][0]["line"] == BROKEN
            assert told.startswith(f"line {BROKEN}: ")
            assert served < MEGABYTES
            assert peak < MEGABYTES


def megabytes(pid: int) -> float:
    """The most that a process has held in memory so far."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next(
        (int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0
    )
