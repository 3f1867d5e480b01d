"""CPU pinning: the measured process on one core, load generator and dependencies on the other."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CAN_PIN = hasattr(os, "sched_setaffinity")
ALL = frozenset(os.sched_getaffinity(0)) if CAN_PIN else frozenset({0})
SERVED = frozenset({min(ALL)})
"""The server under test; for a floor, the client that drives Postgres in its place."""
LOAD_CORES = frozenset({max(ALL)})
"""Load generator, constant backends, Postgres, the broker."""


@contextmanager
def starting_on(cores: Collection[int]) -> Iterator[None]:
    """Children inherit the CPU affinity of their parent."""
    if not CAN_PIN:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def pin_tree(pid: int, cores: Collection[int]) -> None:
    """Pins every thread of the process and of its descendants."""
    if not CAN_PIN:
        return
    for member in tree(pid):
        with suppress(OSError):
            for thread in Path(f"/proc/{member}/task").iterdir():
                with suppress(OSError):
                    os.sched_setaffinity(int(thread.name), cores)


def tree(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        with suppress(OSError):
            for thread in Path(f"/proc/{parent}/task").iterdir():
                found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def cpu_seconds(pids: Collection[int]) -> float:
    """CPU time of these processes since they started, over all threads, in nanosecond resolution."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with suppress(OSError, IndexError):
                    total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def memory_mb(pid: int) -> float:
    """Resident set size. It counts shared pages in full, like the tools that operators use."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
