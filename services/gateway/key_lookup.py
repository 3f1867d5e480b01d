"""Looks unknown keys up in batches, a few times a second, so that guessing costs the database little.

An address that is over its limit of refused keys may still belong to a partner with a brand-new key. That key
must work at once, but made-up keys must not cost one query each.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from shared.batching import Batcher

INTERVAL_SECONDS: Final = 0.1
# More keys than this in one interval are an attack: the rest are refused without a query.
LARGEST_BATCH: Final = 1_000
# So that a slow query does not hold up every other key.
MAX_RUNNING: Final = 4
# A key is stored before it is shown to anyone. So an id that was missing once never becomes valid.
UNKNOWN_KEPT: Final = 10_000

# Takes ids; caches and returns those that exist.
LookUp = Callable[[Sequence[str]], Awaitable[set[str]]]


class BatchedLookup:
    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._batches = Batcher(
            self._exist, max_batch=LARGEST_BATCH, max_running=MAX_RUNNING, interval=INTERVAL_SECONDS
        )
        self._unknown: OrderedDict[str, None] = OrderedDict()

    async def wait_for(self, key_id: str) -> bool:
        """Whether the key exists; if so, it is in the cache."""
        if key_id in self._unknown or len(self._batches) >= LARGEST_BATCH:
            return False
        return await self._batches.submit(key_id)

    async def _exist(self, ids: Sequence[str]) -> list[bool]:
        found = await self._look_up(sorted(set(ids)))
        self._unknown.update(dict.fromkeys(set(ids) - found))
        while len(self._unknown) > UNKNOWN_KEPT:
            self._unknown.popitem(last=False)
        return [key_id in found for key_id in ids]
