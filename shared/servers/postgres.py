"""A private Postgres server on a loopback port, with the system's binaries or those of the wheel."""

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from shared.servers.child import Child, RunAs, unprivileged
from shared.servers.ports import free_port, is_free
from shared.servers.postgres_binaries import PostgresBinaries, copied_to, find_postgres
from shared.servers.postgres_data import (
    ENVIRONMENT,
    State,
    claim_data,
    lock_data,
    lock_home,
    make_data,
    new_state,
    read_state,
    reason_in,
    stop_leftover,
    write_state,
)
from shared.servers.problem import ServerProblem, explained

__all__ = ["EmbeddedPostgres", "PostgresBinaries", "ServerProblem", "find_postgres"]

USERS = ("postgres", "nobody")
START_SECONDS = 60.0  # includes crash recovery; a normal start takes 0.1 s
LOG_LIMIT = 2_000_000
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",  # all statements are short: compiling one costs more than running it
    "random_page_cost": "1.1",
    # Refused statements are routine, and their text contains personal data: keep both out of the log.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedPostgres:
    """A running server, created by `start`. It stops on `stop`, and also when this process is killed."""

    def __init__(
        self, child: Child, locks: ExitStack, state: State, data: Path, origin: str, log: Path
    ) -> None:
        self._child = child
        self._locks = locks
        self._password = state.password
        self.port = state.port
        self.data = data
        self.origin = origin
        self.log = log

    @classmethod
    def start(
        cls,
        home: Path,
        *,
        durable: bool = True,
        binaries: PostgresBinaries | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> Self:
        """Starts on the data in `home`, which the first start creates. Raises `ServerProblem`."""
        home = home.absolute()
        with explained(home), ExitStack() as locks:
            locks.enter_context(lock_home(home))
            state = read_state(home)
            run_as = unprivileged(state.folder(home) if state else home / "postgres", USERS)
            state = state or new_state(home, run_as, durable=durable)
            data = state.folder(home)
            locks.enter_context(lock_data(data))
            claim_data(home, state)
            binaries = binaries_for(data, run_as, binaries)
            if not data.exists():
                # Store the password before creating the data that needs it.
                write_state(home, state)
                make_data(binaries, data, run_as, state.password, durable=durable)
            state.made = True
            stop_leftover(data)
            log = home / "postgres.log"
            for _ in range(3):
                if not (state.port and is_free(state.port)):
                    state.port = free_port()
                write_state(home, state)
                options = SETTINGS | ({} if durable else NOT_DURABLE) | dict(settings)
                child = launch(binaries, data, state.port, run_as, log, options)
                if wait_until_ready(child, data):
                    return cls(child, locks.pop_all(), state, data, binaries.origin, log)
                log_tail = log.read_text(errors="replace").rpartition("--- start\n")[2]
                if "Address already in use" not in log_tail:
                    break
            raise ServerProblem(reason_in(log_tail, f"Postgres did not start (its log is {log})"))

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.alive

    def stop(self) -> None:
        if not self._child.stop(timeout=30):
            self._child.kill()
        self._locks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def binaries_for(data: Path, run_as: RunAs, given: PostgresBinaries | None) -> PostgresBinaries:
    made_by = data / "PG_VERSION"
    major = int(made_by.read_text()) if made_by.exists() else None
    binaries = given or find_postgres(major)
    if binaries is None and major is not None:
        raise ServerProblem(
            f"The data in {data} was created by Postgres {major}, which is not installed here; install it."
        )
    if binaries is None:
        raise ServerProblem("Postgres was not found; install postgresql or set STUDIO_DATABASE_URL.")
    if binaries.from_wheel and not run_as.can_enter(binaries.folder):
        return copied_to(data.parent, binaries)
    return binaries


def launch(
    binaries: PostgresBinaries,
    data: Path,
    port: int,
    run_as: RunAs,
    log: Path,
    settings: Mapping[str, str],
) -> Child:
    options = [f"--{name}={value}" for name, value in settings.items()]
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".log.1"))
    with log.open("ab") as sink:
        sink.write(b"--- start\n")
        sink.flush()
        argv = [binaries.postgres, "-D", str(data), f"--port={port}", *options]
        return Child(argv, run_as=run_as, stop_with="INT", log=sink, cwd=Path("/"), env=ENVIRONMENT)


def wait_until_ready(child: Child, data: Path) -> bool:
    """Waits until the server's pid file says that it accepts connections."""
    pid_file = data / "postmaster.pid"
    deadline = time.monotonic() + START_SECONDS
    while child.alive and time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            if "ready" in pid_file.read_text():
                return True
        time.sleep(0.01)
    child.kill()
    return False
