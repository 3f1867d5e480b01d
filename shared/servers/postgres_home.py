"""What a private Postgres stores in its home between runs: port, password and the path of its data.

The data path is relative to the home, so a home can be moved and copied. If the user of Postgres cannot
enter the home, the data is stored elsewhere, and an owner file next to the data names the home.
"""

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
STATE_FILE = "postgres.json"


class State(Struct):
    """`data` is relative to the home, or absolute outside it. `made` is true once the data exists."""

    data: str
    port: int
    password: str
    made: bool = True
    id: str = ""

    def folder(self, home: Path) -> Path:
        return home / self.data


class DataOwner(Struct):
    """The owner file next to data that is stored outside its home."""

    home: str
    id: str


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
    inside = home / "postgres"
    if not state.folder(home).exists() and inside.exists():
        state.data = "postgres"  # an older version wrote an absolute path, and the home has moved since
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
        id=secrets.token_hex(16),
    )


def claim_data(home: Path, state: State) -> None:
    """Refuses a copied home whose outside data belongs to the original. Records the path of a moved home."""
    data = state.folder(home)
    if data.is_relative_to(home):
        return
    note = data.with_name(data.name + ".owner")
    try:
        owner = msgspec.json.decode(note.read_bytes(), type=DataOwner)
    except (FileNotFoundError, msgspec.DecodeError):
        owner = DataOwner(str(home), state.id)
    if owner.home != str(home) and (Path(owner.home) / STATE_FILE).exists():
        raise ServerProblem(
            f"{home} is a copy of {owner.home}, and the data in {data} belongs to the original. "
            f"Remove {home / STATE_FILE} to start the copy with data of its own."
        )
    note.write_bytes(msgspec.json.encode(DataOwner(str(home), state.id)))


def _reachable_place(home: Path, *, durable: bool) -> Path:
    """A folder outside root's home, which the user that runs Postgres cannot enter."""
    name = f"{home.name}-{secrets.token_hex(8)}"
    base = PLACE_FOR_ROOT if durable else Path(tempfile.gettempdir()) / "studio-partner-api"
    return base / name
