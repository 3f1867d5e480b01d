"""`make soak`: the large runs, two at a time, and then one by one those that need the whole machine.

The hour of the consoles measures no time, so it runs beside the first ones.
"""

import argparse
import asyncio
import signal
import sys
import time
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tests.harness.eventually import until_stopped

FOLDER = Path(__file__).parent
# They measure time, or use every core already.
ALONE = (
    "console_at_size",
    "database_layouts",
    "followers",
    "hostile",
    "isolation",
    "pages_at_size",
    "replicas_and_nodes_killed",
)
AT_ONCE = 2
AT_THE_SAME_TIME = "console_hour"
PYTEST = ("-m", "pytest", "-s", "-vv", "--durations=0", "--durations-min=5", "--timeout", "7200")


class Done(Struct, frozen=True):
    name: str
    code: int
    minutes: float
    summary: str

    def text(self) -> str:
        verdict = "passed" if self.code == 0 else "FAILED"
        return f"{self.name:28} {verdict}  {self.minutes:5.1f} min  {self.summary.strip('= ')}"


def parts() -> list[str]:
    """The names of the files, the largest ones first."""
    files = sorted(FOLDER.glob("test_*.py"), key=lambda file: -file.stat().st_size)
    return [file.stem.removeprefix("test_") for file in files]


async def run_part(name: str, words: Sequence[str]) -> Done:
    """Passes its output on, each line with the name of the part."""
    started, last = time.monotonic(), ""
    file = FOLDER / f"test_{name}.py"
    child = await asyncio.create_subprocess_exec(
        sys.executable, *PYTEST, str(file), *words, stdout=PIPE, stderr=STDOUT
    )
    assert child.stdout is not None
    try:
        while line := await child.stdout.readline():
            if text := line.decode(errors="replace").rstrip():
                last = text
                print(f"{name}: {text}", flush=True)
        code = await child.wait()
    except asyncio.CancelledError:
        child.send_signal(signal.SIGINT)
        await child.wait()
        raise
    return Done(name, code, (time.monotonic() - started) / 60, last)


async def run_all(names: Sequence[str], words: Sequence[str]) -> list[Done]:
    hour = [name for name in names if name == AT_THE_SAME_TIME]
    waiting = [name for name in names if name not in ALONE and name != AT_THE_SAME_TIME]
    done = list[Done]()

    async def work(left: list[str]) -> None:
        while left:
            done.append(await run_part(left.pop(0), words))
            print(f"\n{len(done)} of {len(names)} parts: {done[-1].text()}\n", flush=True)

    await asyncio.gather(work(hour), *(work(waiting) for _ in range(AT_ONCE)))
    await work([name for name in names if name in ALONE])
    return done


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument(
        "only", nargs="*", help="parts whose name contains this text; all of them if none is given"
    )
    given, words = parser.parse_known_args()
    names = [name for name in parts() if not given.only or any(text in name for text in given.only)]
    try:
        done = asyncio.run(until_stopped(run_all(names, words)))
    except asyncio.CancelledError:
        print("stopped before the end")
        return 130
    print(*sorted(one.text() for one in done), sep="\n")
    failed = [one.name for one in done if one.code != 0]
    print(f"{len(done)} parts, {len(failed)} failed")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
