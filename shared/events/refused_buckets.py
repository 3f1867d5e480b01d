"""Buckets whose rows the bus refuses: they pause, and do not hold up the others.

A queue may be full, or its leader gone, while the other queues are fine.
"""

import time

from msgspec import Struct

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 2.0
# Without any success for this long it is the bus that refuses, and not some queues.
ALL_REFUSED_SECONDS = 5.0


class Rest(Struct):
    """`batch` is the last one of which a row was refused."""

    batch: int
    until: float
    seconds: float


class RefusedBuckets:
    def __init__(self) -> None:
        self._rests: dict[int, Rest] = {}
        self._accepted_at = time.monotonic()

    def rests(self, bucket: int) -> bool:
        rest = self._rests.get(bucket)
        return rest is not None and time.monotonic() < rest.until

    def refuse(self, bucket: int, batch: int) -> bool:
        """Whether it is worth an error: for the first time in a row, or while nothing else succeeds.

        Each batch that is refused makes the bucket rest longer, however many of its rows are.
        """
        now = time.monotonic()
        rest = self._rests.get(bucket)
        if rest is None:
            self._rests[bucket] = Rest(batch, now, FIRST_SECONDS)
            return True
        if batch > rest.batch:
            rest.batch = batch
            rest.until = now + rest.seconds
            rest.seconds = min(rest.seconds * 2, LONGEST_SECONDS)
        return now - self._accepted_at > ALL_REFUSED_SECONDS

    def accept(self, bucket: int) -> None:
        if self._rests:
            self._rests.pop(bucket, None)
        self._accepted_at = time.monotonic()
