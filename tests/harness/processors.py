"""While other guests of the host have this machine's processors, the workers' tests take turns, or wait.

Their limits of time are for a machine that runs. No test runs twice, and each has the limits it always has.
"""

import fcntl
import os
import time
from collections import deque
from collections.abc import Generator
from pathlib import Path

import pytest

COUNTERS = Path("/proc/stat")
# Of the time that was wanted: others have less than a twentieth of it on a quiet machine.
MUCH = 0.25
WINDOW = 15.0
TIMEOUT = 400.0  # seconds that a worker waits in all


class Processors:
    """How long they have worked for us, and for others while we waited, noted between two tests."""

    def __init__(self) -> None:
        self._notes: deque[tuple[float, int, int]] = deque()
        self._left = TIMEOUT

    def are_elsewhere(self) -> bool:
        if not COUNTERS.exists():
            return False
        numbers = COUNTERS.read_text().splitlines()[0].split()[1:]
        user, nice, system, _, _, irq, softirq, stolen, *_ = map(int, numbers)
        self._notes.append((time.monotonic(), user + nice + system + irq + softirq, stolen))
        while len(self._notes) > 2 and self._notes[1][0] < time.monotonic() - WINDOW:
            self._notes.popleft()
        (_, worked_before, stolen_before), (_, worked, stolen) = self._notes[0], self._notes[-1]
        share = (stolen - stolen_before) / max(worked - worked_before + stolen - stolen_before, 1)
        return share > MUCH

    def wait(self) -> None:
        """Until they are back, or the time is up. Only who wants them can tell, so this computes a little."""
        while self._left > 0 and self.are_elsewhere():
            began = time.monotonic()
            while time.monotonic() < began + 2:
                pass
            time.sleep(3)
            self._left -= time.monotonic() - began


PROCESSORS = Processors()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Together with the other workers' tests, or alone."""
    turn = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        if "PYTEST_XDIST_WORKER" in os.environ:
            alone = PROCESSORS.are_elsewhere()
            fcntl.flock(turn, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            if alone:
                PROCESSORS.wait()
        return (yield)
    finally:
        os.close(turn)
