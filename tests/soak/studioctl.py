"""Runs `studioctl` against a large system, and measures its time and memory."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from tests.harness.process import ROOT, memory_mb
from tests.harness.system import RunningSystem


class Done(Struct, frozen=True):
    """`peak` is the most memory that the command had, in megabytes."""

    code: int
    seconds: float
    peak: float


def studioctl(running: RunningSystem, *words: str, out: Path) -> Done:
    """What it prints goes to `out`, what it says to the operator next to it."""
    started, peak = time.monotonic(), 0.0
    with out.open("wb") as file, out.with_suffix(".err").open("wb") as told:
        command = subprocess.Popen(
            [sys.executable, "-m", "services.cli.main", *words],
            env=running.processes["up"].environment | {"STUDIO_OPERATOR_URL": running.operator_url},
            cwd=ROOT,
            stdout=file,
            stderr=told,
        )
        while command.poll() is None:
            with suppress(OSError, IndexError):  # it ends meanwhile
                peak = memory_mb(command.pid, "VmHWM")
            time.sleep(0.2)
    return Done(command.returncode, time.monotonic() - started, peak)


def served(running: RunningSystem) -> float:
    """The most memory that the services had."""
    child = running.processes["up"].child
    assert child is not None
    return memory_mb(child.pid, "VmHWM")
