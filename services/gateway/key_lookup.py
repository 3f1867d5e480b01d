"""Looks unknown keys up together, a few times a second: what guessers can cost the database has an end.

An address that has used up its refusals may still be a partner's own, who has just got a new key. That key
has to work at once, and made-up keys must not cost a query each.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

INTERVAL_SECONDS: Final = 0.1
# More distinct keys than this in one interval are an attack: the rest are refused without a look.
LARGEST_BATCH: Final = 1_000
# A key's id is in the database before anybody is told the key: one that was not there once never will be.
UNKNOWN_KEPT: Final = 10_000

# Takes ids, remembers those that exist and answers them.
LookUp = Callable[[Sequence[str]], Awaitable[set[str]]]


class BatchedLookup:
    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._ids: set[str] = set()
        self._batch: asyncio.Task[None] | None = None
        self._unknown: OrderedDict[str, None] = OrderedDict()
        self._last = 0.0

    async def wait_for(self, key_id: str) -> None:
        """Returns when the key is known, or known not to be one."""
        if key_id in self._unknown or len(self._ids) >= LARGEST_BATCH:
            return
        self._ids.add(key_id)
        if self._batch is None:
            self._batch = asyncio.create_task(self._run(), name="key lookup")
        # Others wait for the same batch: who gives up must not cancel it for them.
        await asyncio.shield(self._batch)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._last + INTERVAL_SECONDS - loop.time())
        ids, self._ids, self._batch, self._last = self._ids, set(), None, loop.time()
        found = await self._look_up(sorted(ids))
        self._unknown.update(dict.fromkeys(ids - found))
        while len(self._unknown) > UNKNOWN_KEPT:
            self._unknown.popitem(last=False)
