"""The API keys in use, in memory, so that the hot path needs no query. They are read again at every poll.

A revoked key is refused within `POLL_SECONDS` plus the time of one query. A key that is not in memory is
looked up if its checksum is right, so that a new one works at once. Keys that nobody uses are evicted.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import asyncpg
from msgspec import Struct

from services.gateway.errors import ExpiredKey, InvalidKey, RevokedKey
from services.gateway.rules.key_text import KEY_HEADS, hash_secret, is_hash_of, parse
from services.gateway.secret_lookup import BatchedLookup
from services.gateway.store import keys
from shared.db.database import Database
from shared.http.caller import LIFETIME_SECONDS, Caller, CallerSigner

POLL_SECONDS: Final = 0.5
FORGET_SECONDS: Final = 15.0
# Keys read in one statement, so that many of them do not hold up requests.
PAGE: Final = 500
MAX_VERIFIED: Final = 10_000


class CachedKey(Struct):
    id: str
    name: str
    secret_hash: bytes
    caller: Caller
    rate: float
    burst: int
    expires_at: datetime | None
    expires: float
    revoked: bool
    row: asyncpg.Record
    used: float
    signed_at: float = 0.0
    signed: dict[str, bytes] = {}
    # Of the console session that was used instead of the key.
    session_id: str = ""


class KeyCache:
    def __init__(
        self,
        db: Database,
        peppers: tuple[str, ...],
        signers: Mapping[str, CallerSigner],
        *,
        forget_after: float = FORGET_SECONDS,
    ) -> None:
        self._db = db
        self._peppers = peppers
        self._signers = signers
        self._forget_after = forget_after
        self._keys: dict[str, CachedKey] = {}
        self._refreshing = asyncio.Lock()
        self._used: dict[str, float] = {}
        self._salt = secrets.token_bytes(32)
        self._verified: dict[bytes, tuple[str, bytes]] = {}
        self._batches = BatchedLookup(self._look_up)

    async def authenticate(self, text: str, *, batched: bool = False) -> CachedKey:
        """Finds the key. Says that it is expired or revoked only if the secret matches.

        `batched`: an unknown key is looked up with others, a moment later.
        """
        # A key whose secret has matched before is found by its digest, in a fifth of the time of another
        # check.
        digest = hashlib.blake2b(text.encode(), key=self._salt, digest_size=32).digest()
        key_id, secret_hash = self._verified.get(digest, ("", b""))
        key = self._keys.get(key_id)
        if key is None or key.secret_hash != secret_hash:
            key = await self._verify(text, batched)
            if len(self._verified) >= MAX_VERIFIED:
                self._verified.clear()
            self._verified[digest] = (key.id, key.secret_hash)
        if key.revoked:
            raise RevokedKey
        now = time.time()
        if key.expires < now:
            raise ExpiredKey
        self._used[key.id] = now
        key.used = time.monotonic()
        return key

    async def _verify(self, text: str, batched: bool) -> CachedKey:
        parsed = parse(text, *KEY_HEADS)
        if parsed is None:
            raise InvalidKey
        key = self._keys.get(parsed.id)
        if key is None:
            await (self._batches.wait_for(parsed.id) if batched else self._look_up([parsed.id]))
            key = self._keys.get(parsed.id)
        if key is None or not await self._matches(key, parsed.secret):
            raise InvalidKey
        return key

    async def live(self, key_id: str) -> CachedKey:
        """The key of a console session. Raises if it is revoked or expired."""
        if key_id not in self._keys:
            await self._look_up([key_id])
        key = self._keys.get(key_id)
        if key is None or key.revoked:
            raise RevokedKey
        if key.expires < time.time():
            raise ExpiredKey
        key.used = time.monotonic()
        return key

    def signed_caller(self, key: CachedKey, service: str) -> bytes:
        """The signed caller header, renewed every few seconds instead of for every request.

        Also if the clock was set back: what would be signed now would expire before it is renewed.
        """
        now = time.time()
        if not 0 <= now - key.signed_at <= LIFETIME_SECONDS / 6:
            key.signed = {}
            key.signed_at = now
        signed = key.signed.get(service)
        if signed is None:
            signed = key.signed[service] = self._signers[service].sign(key.caller, at=now)
        return signed

    def __len__(self) -> int:
        return len(self._keys)

    async def refresh(self) -> bool:
        """One step of the polling loop: reads the keys in memory again, and evicts the unused ones."""
        async with self._refreshing:
            unused_since = time.monotonic() - self._forget_after
            for key in [key for key in self._keys.values() if key.used <= unused_since]:
                del self._keys[key.id]
            ids = list(self._keys)
            for start in range(0, len(ids), PAGE):
                page = ids[start : start + PAGE]
                for gone in set(page) - await self._look_up(page):
                    self._keys.pop(gone, None)
            if self._used:
                used, self._used = self._used, {}
                async with self._db.connection() as conn:
                    await keys.record_use(
                        conn, {id_: datetime.fromtimestamp(at, UTC) for id_, at in used.items()}
                    )
        return False

    async def _look_up(self, key_ids: Sequence[str]) -> set[str]:
        async with self._db.connection() as conn:
            rows = await keys.for_cache(conn, key_ids)
        return {self._store(row).id for row in rows}

    async def _matches(self, key: CachedKey, secret: str) -> bool:
        if not is_hash_of(key.secret_hash, secret, self._peppers):
            return False
        current = hash_secret(self._peppers[0], secret)
        if current != key.secret_hash:
            # It matched an old pepper: with a hash under the new one, the old one can be removed later.
            key.secret_hash = current
            async with self._db.connection() as conn:
                await keys.rehash(conn, key.id, current)
        return True

    def _store(self, row: asyncpg.Record) -> CachedKey:
        known = self._keys.get(row["id"])
        if known is not None and known.row == row:
            return known
        locations = row["location_ids"]
        key = self._keys[row["id"]] = CachedKey(
            id=row["id"],
            name=row["name"],
            secret_hash=row["secret_hash"],
            caller=Caller(
                studio_id=row["studio_id"],
                client_id=row["client_id"],
                key_id=row["id"],
                scopes=frozenset(row["scopes"]),
                location_ids=tuple(locations) if locations is not None else None,
                hold_share=str(row["hold_share"]) if row["hold_share"] is not None else None,
            ),
            rate=row["rate"],
            burst=row["burst"],
            expires_at=row["expires_at"],
            expires=row["expires_at"].timestamp() if row["expires_at"] else float("inf"),
            revoked=row["revoked_at"] is not None,
            row=row,
            used=known.used if known else time.monotonic(),
        )
        return key
