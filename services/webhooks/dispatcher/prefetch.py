"""What a lane has in hand: deliveries that wait for their turn, and those that are under way."""

import math
from collections import deque

from services.webhooks.store.attempts import Due

# How many deliveries a lane keeps in hand: enough to be busy, few enough that memory is flat.
PREFETCH_LIMIT = 64


class Prefetch:
    """`held` are all of them, `ready` those not begun; `exhausted`: nothing more is known to be due."""

    def __init__(self) -> None:
        self.ready: deque[Due] = deque()
        self.held: set[str] = set()
        self.exhausted = False
        self.size = PREFETCH_LIMIT

    def fit(self, rate_limit: float | None) -> None:
        """No more than a second's worth where there is a rate limit."""
        self.size = (
            PREFETCH_LIMIT if rate_limit is None else min(PREFETCH_LIMIT, max(2, math.ceil(rate_limit)))
        )

    @property
    def is_half_empty(self) -> bool:
        return len(self.ready) < self.size // 2

    @property
    def is_low(self) -> bool:
        return not self.exhausted and len(self.ready) < max(1, self.size // 4)

    @property
    def is_drained(self) -> bool:
        return self.exhausted and not self.ready

    def take(self, found: list[Due]) -> None:
        self.ready.extend(found)
        self.held.update(due.id for due in found)

    def drop_ready(self) -> None:
        """Nothing was attempted of these: they stay in the database as they are, and are looked up anew."""
        self.held.difference_update(due.id for due in self.ready)
        self.ready.clear()
        self.exhausted = False
