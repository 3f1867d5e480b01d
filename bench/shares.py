"""Limits a process to a share of a core: by a cgroup where possible, else by SIGSTOP and SIGCONT."""

import os
import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

# As for CPU limits in Kubernetes. In shorter periods a process hardly runs before it is stopped again, and
# a virtual machine pays for every start.
PERIOD_SECONDS = 0.1
GROUPS = Path("/sys/fs/cgroup")


@contextmanager
def held_to(share: float, pids: Collection[int]) -> Iterator[str]:
    """Limits each process to `share` of one core; returns the method used."""
    with ExitStack() as stack:
        try:
            for pid in pids:
                stack.enter_context(_in_group(share, pid))
            by = "cgroup"
        except OSError:
            stack.pop_all().close()
            for pid in pids:
                stack.enter_context(_in_turns(share, pid))
            by = "stop signals"
        yield by


@contextmanager
def _in_group(share: float, pid: int) -> Iterator[None]:
    parent, quota = _parent()
    group = parent / f"studio-bench-{pid}"
    group.mkdir()
    try:
        period = round(PERIOD_SECONDS * 1e6)
        if quota == "cpu.max":
            (group / quota).write_text(f"{round(share * period)} {period}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / quota).write_text(str(round(share * period)))
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        with suppress(OSError):
            (parent / "cgroup.procs").write_text(str(pid))
        with suppress(OSError):
            group.rmdir()


def _parent() -> tuple[Path, str]:
    """Our own CPU cgroup. Version 1 has a separate hierarchy for CPU, version 2 a single one."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return GROUPS / "cpu" / path.lstrip("/"), "cpu.cfs_quota_us"
    path = Path("/proc/self/cgroup").read_text().strip().rpartition(":")[2]
    return GROUPS / path.lstrip("/"), "cpu.max"


@contextmanager
def _in_turns(share: float, pid: int) -> Iterator[None]:
    """The process runs for its share of each period and is stopped for the rest."""
    over = threading.Event()

    def turn() -> None:
        while not over.is_set():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            over.wait(PERIOD_SECONDS * (1 - share))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
            over.wait(PERIOD_SECONDS * share)

    thread = threading.Thread(target=turn, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
