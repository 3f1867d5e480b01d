"""What a private Postgres stores in its home between runs: port, password, and its data folder.

The data path is relative to the home, so a home can be moved and copied. If the user of Postgres cannot
enter the home, the data is stored elsewhere, and an owner file next to the data names the home. The data
folder is created atomically, and cleaned up after a killed run.
"""

import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from shared.servers.child import RunAs
from shared.servers.postgres_binaries import PostgresBinaries
from shared.servers.problem import ServerProblem

PLACE_FOR_ROOT = Path("/var/db" if sys.platform == "darwin" else "/var/lib") / "studio-partner-api"
STATE_FILE = "postgres.json"
# We use the first available locale. All sort by bytes; the UTF-8 ones also map upper and lower case.
CHARACTER_TYPES = ("C.UTF-8", "UTF-8", "C")
MIN_FREE_DISK = 100 * 2**20  # initdb needs 40 MB, and its message on a full disk does not name the cause
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


class State(Struct):
    """`data` is relative to the home, or absolute outside it. `made` is true once the data exists."""

    data: str
    port: int
    password: str
    made: bool

    def folder(self, home: Path) -> Path:
        return home / self.data


def lock_file(path: Path, what: str) -> IO[str]:
    """Locks `what` until this process ends, in any way, so that two runs never share it."""
    lock = path.open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise ServerProblem(
            f"Another run (process {owner}) already uses {what}; stop it first or choose another folder."
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def lock_home(home: Path, name: str = "postgres.lock") -> IO[str]:
    home.mkdir(mode=0o711, parents=True, exist_ok=True)
    return lock_file(home / name, str(home))


def lock_data(data: Path) -> IO[str]:
    """Needed as well as the home's lock: a copied home may name the same data as the original."""
    data.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    return lock_file(data.with_name(data.name + ".in_use"), str(data))


def read_state(home: Path) -> State | None:
    file = home / STATE_FILE
    try:
        state = msgspec.json.decode(file.read_bytes(), type=State)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError:
        raise ServerProblem(
            f"The file {file} is damaged; restore it, or remove {home} to start anew."
        ) from None
    if state.made and not state.folder(home).exists():
        raise ServerProblem(
            f"The data folder {state.folder(home)} that {file} names is gone; bring it back, "
            f"or remove {home} to start anew."
        )
    return state


def write_state(home: Path, state: State) -> None:
    """Replaces the file atomically. Only its owner can read it: it holds the superuser's password."""
    unfinished = home / f"{STATE_FILE}.new"
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.encode(state))
        os.fsync(file.fileno())
    unfinished.replace(home / STATE_FILE)


def new_state(home: Path, run_as: RunAs, *, durable: bool) -> State:
    inside = run_as.can_enter(home)
    data = home / "postgres" if inside else _reachable_place(home, durable=durable) / "postgres"
    if data.exists():
        raise ServerProblem(
            f"{home} has data but no {STATE_FILE} to open it; restore that file or remove {data}."
        )
    return State(
        data="postgres" if inside else str(data),
        port=0,
        password=secrets.token_urlsafe(24),
        made=False,
    )


def claim_data(home: Path, state: State) -> None:
    """Refuses a copied home whose outside data belongs to the original. Records the path of a moved home."""
    data = state.folder(home)
    if data.is_relative_to(home):
        return
    note = data.with_name(data.name + ".owner")
    owner = Path(note.read_text()) if note.exists() else home
    if owner != home and (owner / STATE_FILE).exists():
        raise ServerProblem(
            f"{home} is a copy of {owner}, and the data in {data} belongs to the original. "
            f"Remove {home / STATE_FILE} to start the copy with data of its own."
        )
    note.write_text(str(home))


def _reachable_place(home: Path, *, durable: bool) -> Path:
    """A folder outside root's home, which the user that runs Postgres cannot enter."""
    name = f"{home.name}-{secrets.token_hex(8)}"
    base = PLACE_FOR_ROOT if durable else Path(tempfile.gettempdir()) / "studio-partner-api"
    return base / name


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
            argv = [binaries.initdb, f"--pgdata={unfinished}", f"--pwfile={password_file}"]
            argv += ["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
            argv += [f"--lc-ctype={character_type}", *([] if durable else ["--no-sync"])]
            made = run_as.run(argv, cwd=data.parent, env=ENVIRONMENT)
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
        if serves(pid, data):
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
        with suppress(ProcessLookupError):
            os.kill(pid, sig)
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
    response = subprocess.run(
        ["ps", "-p", str(pid), "-o", "command="], capture_output=True, text=True, timeout=10
    )
    return f"-D {data} " in response.stdout
