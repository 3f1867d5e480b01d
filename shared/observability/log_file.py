"""A log file of bounded size, for `studioctl up` on a terminal: the screen stays readable."""

from pathlib import Path
from typing import Final

LIMIT: Final = 20_000_000


class LogFile:
    """Appended line by line. Over the limit it is renamed to `.1`, and a new file begins."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self.path = path
        self._limit = limit
        self._file = path.open("a")
        self._size = path.stat().st_size

    def write(self, text: str) -> int:
        if self._size > self._limit:
            self._file.close()
            self.path.replace(self.path.with_name(self.path.name + ".1"))
            self._file = self.path.open("a")
            self._size = 0
        self._size += len(text)
        return self._file.write(text)

    def flush(self) -> None:
        self._file.flush()
