"""Looks up what a presented secret belongs to, so that guessing costs the database little."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final

import asyncpg
from msgspec import Struct

from services.gateway.rules.key_text import hash_secret, is_hash_of, parse
from shared.batching import Batcher
from shared.db.database import Connection, Database

# Looks unknown keys up in batches, a few times a second, so that guessing costs the database little.
#
# An address that is over its limit of refused keys may still belong to a partner with a brand-new key. That
# key must work at once, but made-up keys must not cost one query each.
INTERVAL_SECONDS: Final = 0.1
# More keys than this in one interval are an attack: the rest are refused without a query.
LARGEST_BATCH: Final = 1_000
# So that a slow query does not hold up every other key.
MAX_RUNNING: Final = 4
# A key is stored before it is shown to anyone. So an id that was missing once never becomes valid.
UNKNOWN_KEPT: Final = 10_000

# Takes ids; caches and returns those that exist.
LookUp = Callable[[Sequence[str]], Awaitable[Collection[str]]]


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
        self._unknown.update(dict.fromkeys(set(ids).difference(found)))
        while len(self._unknown) > UNKNOWN_KEPT:
            self._unknown.popitem(last=False)
        return [key_id in found for key_id in ids]


MAX_KEPT: Final = 10_000


class Found(Struct, frozen=True):
    row: asyncpg.Record
    # The secret under the newest pepper; the stored hash may be under an older one.
    current_hash: bytes


class SecretLookup:
    """One kind of secret: a link, a session, a staff token. `presented` reads the live ones with these ids.

    A row is read for each use, because one that was ended must be refused at once, or after `kept` seconds.
    """

    def __init__(
        self,
        db: Database,
        peppers: tuple[str, ...],
        head: str,
        presented: Callable[[Connection, Sequence[str]], Awaitable[Sequence[asyncpg.Record]]],
        *,
        kept: float = 0.0,
    ) -> None:
        self._db = db
        self._peppers = peppers
        self._head = head
        self._presented = presented
        self._kept_seconds = kept
        self._kept: dict[str, tuple[asyncpg.Record, float]] = {}
        self._batches = BatchedLookup(self._read)

    async def find(self, text: str, *, batched: bool = False) -> Found | None:
        """None without a live row, or if the secret is wrong.

        `batched`: an unknown one is looked up with others, a moment later. That is for addresses over their
        limit, whose guesses must not cost a query each.
        """
        parsed = parse(text, self._head)
        if parsed is None:
            return None
        row, read_at = self._kept.get(parsed.id, (None, 0.0))
        if row is None and batched and not await self._batches.wait_for(parsed.id):
            return None
        if row is None or read_at + self._kept_seconds < time.monotonic():
            row = (await self._read([parsed.id])).get(parsed.id)
        if row is None or not is_hash_of(row["secret_hash"], parsed.secret, self._peppers):
            return None
        return Found(row, hash_secret(self._peppers[0], parsed.secret))

    def forget(self, secret_id: str) -> None:
        self._kept.pop(secret_id, None)

    async def _read(self, ids: Sequence[str]) -> dict[str, asyncpg.Record]:
        async with self._db.connection() as conn:
            found = {row["id"]: row for row in await self._presented(conn, ids)}
        if self._kept_seconds:
            for secret_id in ids:
                self.forget(secret_id)
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            now = time.monotonic()
            self._kept.update({secret_id: (row, now) for secret_id, row in found.items()})
        return found
