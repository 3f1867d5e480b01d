"""Unknown keys are looked up in batches; a key that does not exist is looked up once."""

import asyncio
from collections.abc import Sequence

from services.gateway.secret_lookup import INTERVAL_SECONDS, LARGEST_BATCH, BatchedLookup


class RecordedLookups:
    """What was looked up, batch by batch. `known` are the ids that exist."""

    def __init__(self, *known: str) -> None:
        self.known = set(known)
        self.batches: list[Sequence[str]] = []

    async def look_up(self, ids: Sequence[str]) -> set[str]:
        self.batches.append(ids)
        return self.known & set(ids)


async def test_those_who_come_together_cost_one_query() -> None:
    """However many requests there are, and however often for the same key."""
    lookups = RecordedLookups("a")
    lookup = BatchedLookup(lookups.look_up)
    started = asyncio.get_running_loop().time()
    await asyncio.gather(*(lookup.wait_for(key) for key in ("a", "b", "a", "c") * 20))
    assert lookups.batches == [["a", "b", "c"]]
    await asyncio.gather(*(lookup.wait_for(key) for key in ("b", "c", "d")))
    assert lookups.batches[1:] == [["d"]]
    assert asyncio.get_running_loop().time() - started > INTERVAL_SECONDS * 0.9


async def test_a_flood_of_made_up_keys_is_one_bounded_query() -> None:
    """The rest are refused without a query."""
    lookups = RecordedLookups()
    lookup = BatchedLookup(lookups.look_up)
    many = LARGEST_BATCH * 3
    await asyncio.gather(*(lookup.wait_for(str(number)) for number in range(many)))
    assert [len(batch) for batch in lookups.batches] == [LARGEST_BATCH]
