"""A server process that stops when we stop it, and also when we are killed.

The server runs under a small shell that holds the read end of a pipe; only we hold the write end. When we
write to the pipe, or it closes because this process died, the shell sends the server its stop signal.
Linux's parent-death signal is similar but bound to the thread that started the child: a server started from
a worker thread would stop with that thread. The pipe avoids this and also works on macOS.

Postgres refuses root, so a server may run as another user. Only its process changes user, never Python.
"""

import os
import pwd
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from shared.servers.problem import ServerProblem

LIFELINE = """
signal=$1; shift
exec 3<&0
"$@" </dev/null 3<&- & server=$!
( read -r _ <&3; kill -s "$signal" "$server" ) & watch=$!
wait "$server"; code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""
NAMESPACE = ("unshare", "--user", "--map-user=65534", "--map-group=65534", "--")


class RunAs(Struct, frozen=True):
    uid: int
    """The owner of the server's files, as seen by this process."""
    gid: int
    switch: bool = False
    """The child gives up root for `uid` and `gid`."""
    namespace: bool = False
    """The child gets a user namespace, in which root appears as nobody."""

    @property
    def identity(self) -> dict[str, Any]:
        """What the child becomes, as arguments of `subprocess`."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}

    def command(self, argv: list[str]) -> list[str]:
        return [*NAMESPACE, *argv] if self.namespace else argv

    def run(self, argv: list[str], *, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            cwd=cwd,
            env=env,
            **self.identity,
        )

    def works(self) -> bool:
        return self._succeeds(["true"])

    def can_enter(self, folder: Path) -> bool:
        return self._succeeds(["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)])

    def _succeeds(self, argv: list[str]) -> bool:
        try:
            return self.run(argv, cwd=Path("/"), env=dict(os.environ)).returncode == 0
        except (OSError, subprocess.SubprocessError):
            return False


def unprivileged(data: Path, owner_of_new: tuple[str, ...]) -> RunAs:
    """The owner of `data`, or, before it exists, the first unprivileged user that works here."""
    if os.geteuid() != 0:
        return RunAs(os.geteuid(), os.getegid())
    for candidate in _candidates(data, owner_of_new):
        if candidate.works():
            return candidate
    raise ServerProblem(
        "Postgres does not run as root, and here root can take neither another user nor a user namespace; "
        "start it as an ordinary user or set STUDIO_DATABASE_URL."
    )


def _candidates(data: Path, names: tuple[str, ...]) -> list[RunAs]:
    in_namespace = RunAs(0, 0, namespace=True)
    if data.exists():
        owner = data.stat()
        return [RunAs(owner.st_uid, owner.st_gid, switch=True) if owner.st_uid else in_namespace]
    return [*_users(names), in_namespace]


def _users(names: tuple[str, ...]) -> list[RunAs]:
    entries = {entry.pw_name: entry for entry in pwd.getpwall()}
    found = [entries[name] for name in names if name in entries]
    # macOS stores nobody's uid as -2, which reads as 4294967294 and is not valid for the child.
    return [RunAs(entry.pw_uid, entry.pw_gid, switch=True) for entry in found if entry.pw_uid < 2**31]


class Child:
    def __init__(
        self,
        argv: list[str],
        *,
        run_as: RunAs,
        stop_with: str,
        log: IO[bytes],
        cwd: Path,
        env: dict[str, str],
    ) -> None:
        command = run_as.command(["/bin/sh", "-c", LIFELINE, "lifeline", stop_with, *argv])
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=cwd,
            env=env,
            start_new_session=True,  # Ctrl-C must reach only us: we stop the servers in order
            **run_as.identity,
        )

    @property
    def pid(self) -> int:
        """Of the process that leads the server's group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self, timeout: float) -> bool:
        """Signals the server to stop and waits; False if it still runs after `timeout`."""
        self._pull_lifeline()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Sends `sig` to the server's process group and waits for it to exit."""
        if self.alive:
            os.killpg(self._process.pid, sig)
        self._process.wait(30)
        self._pull_lifeline()

    def _pull_lifeline(self) -> None:
        pipe = self._process.stdin
        if pipe is not None and not pipe.closed:
            with suppress(BrokenPipeError):
                pipe.write(b"stop\n")
                pipe.close()
