"""A server process that stops when we stop it, and also when we are killed.

The server runs under a small shell that holds the read end of a pipe; only we hold the write end. When we
write to the pipe, or it closes because this process died, the shell sends the server its stop signal.
Linux's parent-death signal is similar but bound to the thread that started the child: a server started from
a worker thread would stop with that thread. The pipe avoids this and also works on macOS.
"""

import os
import signal
import subprocess
from pathlib import Path
from typing import IO

from shared.servers.run_as import RunAs

LIFELINE = """
signal=$1; shift
exec 3<&0
"$@" </dev/null 3<&- & server=$!
( read -r _ <&3; kill -s "$signal" "$server" ) & watch=$!
wait "$server"; code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""


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
            user=run_as.user,
            group=run_as.group,
            extra_groups=run_as.extra_groups,
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
        pipe = self._process.stdin
        if pipe is not None and not pipe.closed:
            try:
                pipe.write(b"stop\n")
                pipe.close()
            except BrokenPipeError:
                pass
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
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
