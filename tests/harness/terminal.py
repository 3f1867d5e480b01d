"""Runs a command on a pseudo-terminal, to test what a person sees and types."""

import os
import pty
import re
import select
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


class Terminal:
    """A child on a pseudo-terminal. `text` is its output so far, without escape sequences."""

    def __init__(self, pid: int, file: int) -> None:
        self.pid = pid
        self._file = file
        self._seen = b""
        self._status: int | None = None

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self._seen.decode(errors="replace")).replace("\r", "")

    def wait_for(self, words: str, seconds: float = 60.0) -> None:
        """Reads until the words are on the screen; on a timeout, fails and shows the screen."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            if time.monotonic() > deadline or not self._read(0.2):
                raise AssertionError(f"{words!r} was never shown. The screen:\n{self.text}")

    def drain(self) -> str:
        """Everything that is on the screen by now."""
        while select.select([self._file], [], [], 0.2)[0] and self._read(0):
            pass
        return self.text

    def type(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def interrupt(self) -> None:
        self.type("\x03")

    def exit_code(self, seconds: float = 30.0) -> int:
        """Reads until the child exits."""
        deadline = time.monotonic() + seconds
        while not self._ended():
            if time.monotonic() > deadline:
                raise AssertionError(f"Still running after {seconds} s. The screen:\n{self.text}")
            self._read(0.1)
        while self._read(0.05):
            pass
        assert self._status is not None
        return os.waitstatus_to_exitcode(self._status)

    def close(self) -> None:
        if not self._ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)

    def _ended(self) -> bool:
        if self._status is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self._status = status
        return self._status is not None

    def _read(self, seconds: float) -> bool:
        """False at the end of the output, or if the child has exited and nothing came."""
        if select.select([self._file], [], [], seconds)[0]:
            try:
                part = os.read(self._file, 65536)
            except OSError:
                return False
            self._seen += part
            return bool(part)
        return self._status is None


@contextmanager
def on_a_terminal(
    words: Sequence[str], environment: Mapping[str, str], folder: Path, *, columns: int = 100
) -> Iterator[Terminal]:
    screen = {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "40"}
    pid, file = pty.fork()
    if pid == 0:  # pragma: no cover - the child
        try:
            # A test run in the background of a script ignores Ctrl-C, and its children would inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(folder)
            os.execvpe(words[0], list(words), {**environment, **screen})
        finally:
            os._exit(127)
    terminal = Terminal(pid, file)
    try:
        yield terminal
    finally:
        terminal.close()
