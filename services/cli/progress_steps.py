"""Shows the steps of a start on a terminal, and how long each took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show the seconds on a terminal while the step runs. Elsewhere print nothing: the log has it."""
    if not sys.stderr.isatty():
        yield
        return
    # Imported only for a terminal: it takes memory that a server does not need.
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    began = time.monotonic()
    with console.status(_Elapsed(what, began)):
        yield
    console.print(f"  {what}: {time.monotonic() - began:.1f} s")


class _Elapsed:
    """Rendered anew for each frame of the spinner."""

    def __init__(self, what: str, began: float) -> None:
        self._what = what
        self._began = began

    def __rich__(self) -> str:
        return f"{self._what} … {time.monotonic() - self._began:.0f} s"
