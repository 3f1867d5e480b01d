"""The data folder of a private Postgres: created atomically, and cleaned up after a killed run."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from shared.servers.postgres_binaries import PostgresBinaries
from shared.servers.problem import ServerProblem
from shared.servers.run_as import RunAs

# We use the first available locale. All sort by bytes; the UTF-8 ones also map upper and lower case.
CHARACTER_TYPES = ("C.UTF-8", "UTF-8", "C")
MIN_FREE_DISK = 100 * 2**20  # initdb needs 40 MB, and its message on a full disk does not name the cause
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def make_data(binaries: PostgresBinaries, data: Path, run_as: RunAs, password: str, *, durable: bool) -> None:
    """Created under a temporary name and renamed, so an interrupted first start leaves no partial data."""
    free = shutil.disk_usage(data.parent).free
    if free < MIN_FREE_DISK:
        raise ServerProblem(
            f"The disk that holds {data.parent} is nearly full ({free // 2**20} MB left of the 100 needed)."
        )
    unfinished = data.with_name(data.name + ".new")
    password_file = data.with_name(data.name + ".password")
    try:
        password_file.unlink(missing_ok=True)
        password_file.touch(mode=0o600)
        os.chown(password_file, run_as.uid, run_as.gid)
        password_file.write_text(password)
        for character_type in CHARACTER_TYPES:
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(mode=0o700)
            os.chown(unfinished, run_as.uid, run_as.gid)
            argv = [
                binaries.initdb,
                f"--pgdata={unfinished}",
                f"--pwfile={password_file}",
                "--username=postgres",
            ]
            argv += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", f"--lc-ctype={character_type}"]
            made = run_as.run(argv if durable else [*argv, "--no-sync"], cwd=data.parent, env=ENVIRONMENT)
            if made.returncode == 0:
                unfinished.rename(data)
                return
            if "invalid locale" not in made.stderr:
                break
        raise ServerProblem(reason_in(made.stderr, f"Postgres could not create its data folder {data}"))
    finally:
        password_file.unlink(missing_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)


def reason_in(log: str, failure: str) -> str:
    """The cause of a failed start, as one sentence from the server's log."""
    if "No space left on device" in log or "Disk quota exceeded" in log:
        return f"{failure}: the disk is full."
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "FATAL" in line or "PANIC" in line or "error:" in line]
    words = (errors or lines or ["it gave no reason"])[-1]
    return f"{failure}: {words.rstrip('.')}."


def stop_leftover(data: Path) -> None:
    """Stops a killed run's server if it still serves `data`, and removes a stale pid file.

    Postgres trusts its pid file: it refuses to start if an unrelated process now has that pid.
    """
    pid_file = data / "postmaster.pid"
    pid = recorded_pid(pid_file)
    if pid is None:
        return
    for sig, timeout in ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0)):
        if not serves(pid, data):
            pid_file.unlink(missing_ok=True)
            return
        _send(pid, sig, data)
        deadline = time.monotonic() + timeout
        while serves(pid, data) and time.monotonic() < deadline:
            time.sleep(0.02)
    if serves(pid, data):
        raise ServerProblem(
            f"An old Postgres (process {pid}) still uses {data} and does not stop; end it first."
        )
    pid_file.unlink(missing_ok=True)


def _send(pid: int, sig: signal.Signals, data: Path) -> None:
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        return
    except PermissionError:
        raise ServerProblem(f"Another user's Postgres (process {pid}) uses {data}; stop it first.") from None


def recorded_pid(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def serves(pid: int, data: Path) -> bool:
    """Whether `pid` is the postmaster of this folder, not an unrelated process that reused the pid."""
    if Path("/proc/self").exists():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return os.fsencode(data) in words
    answer = subprocess.run(
        ["ps", "-p", str(pid), "-o", "command="], capture_output=True, text=True, timeout=10
    )
    return f"-D {data} " in answer.stdout
