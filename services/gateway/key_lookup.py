"""Looks unknown keys up in batches, a few times a second, so that guessing costs the database little.

An address that is over its limit of refused keys may still belong to a partner with a brand-new key. That key
must work at once, but made-up keys must not cost one query each.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

INTERVAL_SECONDS: Final = 0.1
# More distinct keys than this in one interval are an attack: the rest are refused without a query.
LARGEST_BATCH: Final = 1_000
# A key is stored before it is shown to anyone. So an id that was missing once never becomes valid.
UNKNOWN_KEPT: Final = 10_000

# Takes ids; caches and returns those that exist.
LookUp = Callable[[Sequence[str]], Awaitable[set[str]]]


class BatchedLookup:
    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._ids: set[str] = set()
        self._batch: asyncio.Task[set[str]] | None = None
        self._unknown: OrderedDict[str, None] = OrderedDict()
        self._last = 0.0

    async def wait_for(self, key_id: str) -> bool:
        """Whether the key exists; if so, it is in the cache."""
        if key_id in self._unknown or len(self._ids) >= LARGEST_BATCH:
            return False
        self._ids.add(key_id)
        if self._batch is None:
            self._batch = asyncio.create_task(self._run(), name="key lookup")
        # Other requests wait for the same batch: a cancelled one must not cancel it for them.
        return key_id in await asyncio.shield(self._batch)

    async def _run(self) -> set[str]:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._last + INTERVAL_SECONDS - loop.time())
        ids, self._ids, self._batch, self._last = self._ids, set(), None, loop.time()
        found = await self._look_up(sorted(ids))
        self._unknown.update(dict.fromkeys(ids - found))
        while len(self._unknown) > UNKNOWN_KEPT:
            self._unknown.popitem(last=False)
        return found
