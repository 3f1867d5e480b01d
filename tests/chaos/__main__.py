"""`make chaos`: the fault matrix against five services, with a ledger of every acknowledged answer."""

import argparse
import asyncio
import logging
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import structlog

from bench.steal import Steal
from tests.chaos.faults.groups import GROUPS
from tests.chaos.runner import Outcome, Plan, run
from tests.chaos.table import markdown, plain, written_into
from tests.harness.eventually import until_stopped

# The exit status of a program that was stopped with Ctrl-C.
STOPPED = 130


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    names = [group.name for group in GROUPS]
    parser.add_argument("--groups", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--faults", default="", help="only faults whose name contains this text")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each group (20)")
    parser.add_argument("--seed", type=int, help="draws the same faults again")
    parser.add_argument(
        "--table", type=Path, help="write the table as markdown to this file, or between its marks"
    )
    return parser.parse_args()


def main() -> int:
    given = arguments()
    seed = given.seed if given.seed is not None else secrets.randbelow(1_000_000)
    wanted = given.groups.split(",")
    groups = tuple(group.only(given.faults) for group in GROUPS if group.name in wanted)
    plan = Plan(groups, given.rounds, writes=240, seed=seed)
    folder = Path(tempfile.mkdtemp(prefix="studio-chaos-"))
    folder.chmod(0o711)
    started, steal = time.monotonic(), Steal()

    def say(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - started:6.0f} s  {text}\n")
        sys.stdout.flush()

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    outcome = None
    try:
        outcome = asyncio.run(until_stopped(run(plan, folder, say)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("stopped before the end; there is no table")
    finally:
        if outcome is None or outcome.problems:
            kept = Path(tempfile.mkdtemp(prefix="studio-chaos-logs-"))
            for log in folder.glob("*.log"):
                shutil.copy(log, kept)
            say(f"the services' logs are in {kept}")
        shutil.rmtree(folder, ignore_errors=True)
    return STOPPED if outcome is None else report(outcome, seed, steal.text(), given.table)


def report(outcome: Outcome, seed: int, stolen: str, table: Path | None) -> int:
    sys.stdout.write(f"\n{plain(outcome.results)}\n\n")
    for skipped in outcome.skipped:
        sys.stdout.write(f"{skipped}\n")
    if table is not None:
        command = f'`make chaos ARGS="--seed {seed}"` at {commit()}'
        minutes, notes = outcome.seconds / 60, outcome.skipped
        text = markdown(outcome.results, command=command, minutes=minutes, stolen=stolen, notes=notes)
        table.write_text(written_into(table.read_text() if table.exists() else "", text))
        sys.stdout.write(f"The table is in {table}.\n")
    problems = outcome.problems
    took = f"{outcome.seconds / 60:.1f} minutes, {stolen or 'unknown'} stolen by other machines"
    sys.stdout.write(f"{len(problems)} problems; seed {seed}; {took}\n")
    return 1 if problems else 0


def commit() -> str:
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() or "no commit"


if __name__ == "__main__":
    sys.exit(main())
