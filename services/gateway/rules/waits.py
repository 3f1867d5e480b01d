"""Requests that wait for an event (`GET /events?wait=`): for how long, and how many of a client at once."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import parse_qsl, urlencode

from shared.errors import TooManyWaits

# The upstream for them: a pool of its own, in which each holds a connection.
WAITING: Final = "waiting"
LONGEST: Final = 25
# What a wait may take longer than it asked for.
GRACE: Final = 10.0
POOL_SIZE: Final = 4096
MAX_WAITS: Final = 10


def seconds_of(query: bytes) -> int:
    """0 if it does not wait, or asks for what the service refuses."""
    if b"wait=" not in query and b"%" not in query:
        return 0
    try:
        seconds = int(dict(parse_qsl(query.decode("ascii"))).get("wait", "0"))
    except ValueError:
        return 0
    return seconds if 0 < seconds <= LONGEST else 0


def without_wait(query: bytes) -> bytes:
    kept = [pair for pair in parse_qsl(query.decode("ascii"), keep_blank_values=True) if pair[0] != "wait"]
    return urlencode(kept).encode()


class Waits:
    def __init__(self) -> None:
        self._running: Counter[Hashable] = Counter()

    @contextmanager
    def one_more(self, client: Hashable) -> Iterator[None]:
        if self._running[client] >= MAX_WAITS:
            raise TooManyWaits(1)
        self._running[client] += 1
        try:
            yield
        finally:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]
