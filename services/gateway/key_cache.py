"""All API keys in memory, so that the hot path needs no query. Each replica polls for changes.

A revoked key is refused within `POLL_SECONDS` and the time of one query. A key that nobody here has heard of
yet is looked up once its checksum holds, so that a new one works at once.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import asyncpg
import structlog
from msgspec import Struct

from services.gateway.errors import ExpiredKey, InvalidKey, RevokedKey
from services.gateway.key_lookup import BatchedLookup
from services.gateway.rules.key_text import hash_secret, parse_key
from services.gateway.store import keys
from shared.db.database import Database
from shared.http.caller import LIFETIME_SECONDS, Caller, ServiceSigners

log = structlog.get_logger("keys")

POLL_SECONDS: Final = 0.5
RELOAD_SECONDS: Final = 60.0
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
    signed_until: float = 0.0
    signed: dict[str, bytes] = {}


class KeyCache:
    def __init__(self, db: Database, peppers: tuple[str, ...], signers: ServiceSigners) -> None:
        self._db = db
        self._peppers = peppers
        self._signers = signers
        self._keys: dict[str, CachedKey] = {}
        self._changed_at: datetime | None = None
        self._reloaded = 0.0
        self._used: dict[str, datetime] = {}
        self._salt = secrets.token_bytes(32)
        self._verified: dict[bytes, tuple[str, bytes]] = {}
        self._batches = BatchedLookup(self._look_up)

    async def authenticate(self, text: str, *, batched: bool = False) -> CachedKey:
        """The key of this text. Expired and revoked are told only once the secret has matched.

        `batched`: an unknown key is looked up with others, a moment later.
        """
        # A text whose secret has matched before is known by its digest: a fifth of the time of another proof.
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
        if key.expires < time.time():
            raise ExpiredKey
        self._used[key.id] = datetime.now(UTC)
        return key

    async def _verify(self, text: str, batched: bool) -> CachedKey:
        parsed = parse_key(text)
        if parsed is None:
            raise InvalidKey
        key = self._keys.get(parsed.id)
        if key is None:
            await (self._batches.wait_for(parsed.id) if batched else self._look_up([parsed.id]))
            key = self._keys.get(parsed.id)
        if key is None or not await self._matches(key, parsed.secret):
            raise InvalidKey
        return key

    def signed_caller(self, key: CachedKey, service: str) -> bytes:
        """The signed caller header, renewed every few seconds instead of for every request."""
        now = time.time()
        if now > key.signed_until:
            key.signed = {}
            key.signed_until = now + LIFETIME_SECONDS / 6
        signed = key.signed.get(service)
        if signed is None:
            signed = key.signed[service] = self._signers.sign(service, key.caller, at=now)
        return signed

    async def refresh(self) -> bool:
        """One step of the polling loop."""
        whole = time.monotonic() - self._reloaded > RELOAD_SECONDS
        async with self._db.connection() as conn:
            rows = await keys.changed_since(conn, None if whole else self._changed_at)
            if self._used:
                used, self._used = self._used, {}
                await keys.record_use(conn, used)
        if whole:
            self._keys = {}
            self._reloaded = time.monotonic()
        for row in rows:
            self._store(row)
        return False

    async def _look_up(self, key_ids: Sequence[str]) -> set[str]:
        async with self._db.connection() as conn:
            rows = await keys.for_cache(conn, key_ids)
        return {self._store(row).id for row in rows}

    async def _matches(self, key: CachedKey, secret: str) -> bool:
        if hmac.compare_digest(hash_secret(self._peppers[0], secret), key.secret_hash):
            return True
        if not any(
            hmac.compare_digest(hash_secret(old, secret), key.secret_hash) for old in self._peppers[1:]
        ):
            return False
        # Seen under an old pepper: keep it under the new one, so that the old can be dropped one day.
        key.secret_hash = hash_secret(self._peppers[0], secret)
        async with self._db.connection() as conn:
            await keys.rehash(conn, key.id, key.secret_hash)
        return True

    def _store(self, row: asyncpg.Record) -> CachedKey:
        locations = row["location_ids"]
        key = CachedKey(
            id=row["id"],
            name=row["name"],
            secret_hash=row["secret_hash"],
            caller=Caller(
                studio_id=row["studio_id"],
                client_id=row["client_id"],
                key_id=row["id"],
                scopes=frozenset(row["scopes"]),
                location_ids=tuple(locations) if locations is not None else None,
            ),
            rate=row["rate"],
            burst=row["burst"],
            expires_at=row["expires_at"],
            expires=row["expires_at"].timestamp() if row["expires_at"] else float("inf"),
            revoked=row["revoked_at"] is not None,
        )
        self._keys[key.id] = key
        if self._changed_at is None or row["changed_at"] > self._changed_at:
            self._changed_at = row["changed_at"]
        return key
