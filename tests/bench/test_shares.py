"""A process held to a share of a core gets no more than that, and all of it back afterwards."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from bench.cores import cpu_seconds
from bench.shares import _in_turns, held_to

# A process that is held to a fifth, with room for a machine that wakes us late; alone it takes a whole core.
HELD = 0.6


@pytest.fixture
def busy() -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield child.pid
    child.kill()
    child.wait()


def share_of(pid: int, seconds: float) -> float:
    before, began = cpu_seconds([pid]), time.perf_counter()
    time.sleep(seconds)
    return (cpu_seconds([pid]) - before) / (time.perf_counter() - began)


HELD_BY: dict[str, Callable[[int], AbstractContextManager[object]]] = {
    "whatever there is": lambda pid: held_to(0.2, [pid]),
    "signals": lambda pid: _in_turns(0.2, pid),
}


@pytest.mark.parametrize("means", HELD_BY)
def test_a_busy_process_is_held_to_its_share_and_runs_again(busy: int, means: str) -> None:
    """By whichever means this machine allows, and by signals, which work where there is no cgroup."""
    with HELD_BY[means](busy):
        assert share_of(busy, 1.0) < HELD
    # Longer in one go than a held process may. However busy the machine is, that comes soon.
    deadline = time.monotonic() + 20
    while share_of(busy, 0.2) < HELD:
        assert time.monotonic() < deadline
