"""Deliveries that a lane has loaded: ready to send, or in flight."""

import math
from collections import deque

from services.webhooks.store.attempts import Due

# Enough to keep a lane busy, few enough to keep memory flat.
PREFETCH_LIMIT = 64


class Prefetch:
    """`held` has the ids of all loaded deliveries, `ready` those not started yet.

    `exhausted` means that the last query found nothing more that is due.
    """

    def __init__(self) -> None:
        self.ready: deque[Due] = deque()
        self.held: set[str] = set()
        self.exhausted = False
        self.size = PREFETCH_LIMIT
        self._low = PREFETCH_LIMIT // 4

    def fit(self, rate_limit: float | None, *, fifo: bool) -> None:
        """With a rate limit, load at most one second's worth. A FIFO lane loads when it has sent all."""
        self.size = (
            PREFETCH_LIMIT if rate_limit is None else min(PREFETCH_LIMIT, max(2, math.ceil(rate_limit)))
        )
        self._low = 1 if fifo else max(1, self.size // 4)

    @property
    def is_half_empty(self) -> bool:
        return len(self.ready) < self.size // 2

    @property
    def is_low(self) -> bool:
        return not self.exhausted and len(self.ready) < self._low

    def take(self, found: list[Due]) -> None:
        self.ready.extend(found)
        self.held.update(due.id for due in found)

    def drop_ready(self) -> None:
        """Unload what was not attempted. It is unchanged in the database and is loaded again later."""
        self.held.difference_update(due.id for due in self.ready)
        self.ready.clear()
        self.exhausted = False
