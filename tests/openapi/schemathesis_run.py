"""Runs schemathesis over the partners' document against a system with the demo studio in it."""

import asyncio
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from services.cli.openapi.__main__ import STATIC
from tests.harness.bookable_studio import demo_with_new_ids
from tests.harness.system import ROOT, System

HERE = Path(__file__).parent
COUNT = re.compile(r"^\s*(\d+) generated", re.MULTILINE)


class Outcome(Struct):
    cases: int
    passed: bool
    text: str


async def run_schemathesis(
    system: System, folder: Path, *, phases: str, examples: int, seconds: int
) -> Outcome:
    """`examples` are those of each operation; the seed is fixed, so that a failure comes again."""
    lines = demo_with_new_ids(datetime.now(UTC).date())
    await system.import_lines(lines)
    issued = await system.issue(studio=lines[0]["id"])
    await system.limit(issued)
    command: list[str | Path] = [
        *(
            sys.executable,
            "-m",
            "schemathesis.cli",
            "--config-file",
            HERE / "schemathesis.toml",
            "--no-color",
        ),
        *("run", STATIC / "openapi.json", "--url", f"{system.running.partner_url}/partner/v1"),
        *("--header", f"X-Service-Key: {issued['key']}", "--continue-on-failure"),
        *("--seed", "1", "--phases", phases, "--max-examples", str(examples)),
    ]
    return await asyncio.to_thread(_run, command, folder, seconds)


def _run(command: list[str | Path], folder: Path, seconds: int) -> Outcome:
    hooks = {"SCHEMATHESIS_HOOKS": "tests.openapi.schemathesis_hooks", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | hooks,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    found = COUNT.search(done.stdout)
    return Outcome(int(found[1]) if found else 0, done.returncode == 0, f"{done.stdout}\n{done.stderr}")
