"""The steps of a start, shown to whoever watches: what is being done, and how long it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def step(what: str) -> Iterator[None]:
    """On a terminal a line that moves while the work runs. Elsewhere nothing: the log tells it."""
    if not sys.stderr.isatty():
        yield
        return
    # Loaded only where a person watches: it costs memory that a server never needs.
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    began = time.monotonic()
    with console.status(f"{what} …"):
        yield
    console.print(f"  {what}: {time.monotonic() - began:.1f} s")
