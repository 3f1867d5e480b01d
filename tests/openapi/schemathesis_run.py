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
HOOKS = {"SCHEMATHESIS_HOOKS": "tests.openapi.schemathesis_hooks", "PYTHONPATH": str(ROOT)}
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
    config, url = HERE / "schemathesis.toml", f"{system.running.partner_url}/partner/v1"
    command: list[str | Path] = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", config, "--no-color"),
        *("run", STATIC / "openapi.json", "--url", url, "--header", f"X-Service-Key: {issued['key']}"),
        *("--continue-on-failure", "--seed", "1", "--phases", phases, "--max-examples", str(examples)),
    ]
    done = await asyncio.to_thread(
        subprocess.run,
        command,
        cwd=folder,
        env=os.environ | HOOKS,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    found = COUNT.search(done.stdout)
    return Outcome(int(found[1]) if found else 0, done.returncode == 0, f"{done.stdout}\n{done.stderr}")
