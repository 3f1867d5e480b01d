"""A process held to a share of a core gets no more than that, and all of it back afterwards."""

import subprocess
import sys
import time
from collections.abc import Iterator

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


def runs_again(pid: int) -> None:
    """Longer in one go than a held process may. However busy the machine is, that comes soon."""
    deadline = time.monotonic() + 20
    while share_of(pid, 0.2) < HELD:
        assert time.monotonic() < deadline


def test_a_busy_process_is_held_to_its_share(busy: int) -> None:
    """By whichever means this machine allows; less is possible where others want the cores too."""
    with held_to(0.2, [busy]) as by:
        assert by in ("cgroup", "stop signals")
        assert share_of(busy, 1.0) < HELD
    runs_again(busy)


def test_stop_signals_do_it_where_there_is_no_cgroup(busy: int) -> None:
    """And the process is not left stopped."""
    with _in_turns(0.2, busy):
        assert share_of(busy, 1.0) < HELD
    runs_again(busy)
