"""What a private Postgres keeps in its home between runs: its port, its password, and where its data is."""

import fcntl
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from shared.servers.problem import ServerProblem
from shared.servers.run_as import RunAs

PLACE_FOR_ROOT = Path("/var/db" if sys.platform == "darwin" else "/var/lib") / "studio-partner-api"


class State(Struct):
    data: str
    port: int
    password: str


def lock_home(home: Path) -> IO[str]:
    """Held until this process ends, however it ends, so that two runs never share one data folder."""
    home.mkdir(mode=0o711, parents=True, exist_ok=True)
    lock = (home / "postgres.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise ServerProblem(
            f"Another run (process {owner}) already uses {home}; stop it first or choose another folder."
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def read_state(home: Path) -> State | None:
    file = home / "postgres.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=State)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError:
        raise ServerProblem(
            f"The file {file} is damaged; restore it, or remove {home} to start anew."
        ) from None


def write_state(home: Path, state: State) -> None:
    """Replaced in one step and readable by its owner alone: it holds the superuser's password."""
    unfinished = home / "postgres.json.new"
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.encode(state))
        os.fsync(file.fileno())
    unfinished.replace(home / "postgres.json")


def new_state(home: Path, run_as: RunAs, *, durable: bool) -> State:
    place = home if run_as.can_enter(home) else _reachable_place(home, durable=durable)
    if (place / "postgres").exists():
        raise ServerProblem(
            f"{home} has data but no postgres.json to open it; restore that file or remove {home}/postgres."
        )
    return State(data=str(place / "postgres"), port=0, password=secrets.token_urlsafe(24))


def _reachable_place(home: Path, *, durable: bool) -> Path:
    """Outside root's home, which is closed to the user that Postgres runs as; the state says where."""
    name = f"{home.name}-{secrets.token_hex(8)}"
    base = PLACE_FOR_ROOT if durable else Path(tempfile.gettempdir()) / "studio-partner-api"
    return base / name
