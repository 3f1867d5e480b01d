"""`make soak`: the large runs, two at a time, and then one by one those that need the whole machine.

The hour of the consoles measures no time, so it runs beside the first ones.
"""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tests.harness.eventually import until_stopped

FOLDER = Path(__file__).parent
# They measure time, or use every core already.
ALONE = (
    "console_at_size",
    "console_jobs",
    "database_layouts",
    "followers",
    "forms_at_size",
    "hostile",
    "isolation",
    "ninety_days",
    "replicas_and_nodes_killed",
    "webhooks_at_size",
)
AT_ONCE = 2
AT_THE_SAME_TIME = "console_hour"
PYTEST = ("-m", "pytest", "-s", "-vv", "--durations=0", "--durations-min=5", "--timeout", "7200")


class Done(Struct, frozen=True):
    name: str
    code: int
    seconds: float
    summary: str


def parts() -> list[str]:
    """The names of the files, the largest ones first."""
    files = sorted(FOLDER.glob("test_*.py"), key=lambda file: -file.stat().st_size)
    return [file.stem.removeprefix("test_") for file in files]


async def run_part(name: str, words: Sequence[str]) -> Done:
    """Passes its output on, each line with the name of the part."""
    started, last = time.monotonic(), ""
    file = FOLDER / f"test_{name}.py"
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *PYTEST,
        str(file),
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert child.stdout is not None
    try:
        while line := await child.stdout.readline():
            text = line.decode(errors="replace").rstrip()
            if text:
                last = text
                sys.stdout.write(f"{name}: {text}\n")
                sys.stdout.flush()
        code = await child.wait()
    except asyncio.CancelledError:
        child.send_signal(signal.SIGINT)
        await child.wait()
        raise
    return Done(name, code, time.monotonic() - started, last)


async def run_all(names: Sequence[str], words: Sequence[str]) -> list[Done]:
    hour = [name for name in names if name == AT_THE_SAME_TIME]
    waiting = [name for name in names if name not in ALONE and name != AT_THE_SAME_TIME]
    done, count = list[Done](), len(names)

    async def work(names: list[str]) -> None:
        while names:
            done.append(await run_part(names.pop(0), words))
            _tell(done, count)

    await asyncio.gather(work(hour), *(work(waiting) for _ in range(AT_ONCE)))
    await work([name for name in names if name in ALONE])
    return done


def _tell(done: Sequence[Done], parts: int) -> None:
    last = done[-1]
    verdict = "passed" if last.code == 0 else "FAILED"
    sys.stdout.write(
        f"\n{len(done)} of {parts} parts: {last.name} {verdict}, {last.seconds / 60:.1f} min\n\n"
    )
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument(
        "only", nargs="*", help="parts whose name contains this text; all of them if none is given"
    )
    given, words = parser.parse_known_args()
    names = [name for name in parts() if not given.only or any(text in name for text in given.only)]
    started = time.monotonic()
    try:
        done = asyncio.run(until_stopped(run_all(names, words)))
    except asyncio.CancelledError:
        sys.stdout.write("stopped before the end\n")
        return 130
    for one in sorted(done, key=lambda one: one.name):
        verdict = "passed" if one.code == 0 else "FAILED"
        sys.stdout.write(f"{one.name:28} {verdict}  {one.seconds / 60:5.1f} min  {one.summary.strip('= ')}\n")
    failed = [one.name for one in done if one.code != 0]
    minutes = (time.monotonic() - started) / 60
    sys.stdout.write(f"{len(done)} parts, {len(failed)} failed, {minutes:.0f} minutes\n")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
