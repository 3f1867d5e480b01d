"""Console sessions in memory. A session acts for its key, with the same or fewer scopes, until it ends.

The key's state comes from the key cache, so revoking a key ends its sessions just as fast.
"""

import time
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from services.gateway.errors import ConsoleSessionEnded, ExpiredKey, RevokedKey
from services.gateway.key_cache import BatchedLookup, CachedKey, KeyCache
from services.gateway.rules.key_text import SESSION_HEAD, is_hash_of, parse_session
from services.gateway.store import console_sessions
from shared.db.database import Database

# A session that was ended on another replica is refused here after at most this time.
RECHECK_SECONDS: Final = 1.0
MAX_CACHED: Final = 10_000


class CachedSession(Struct):
    secret_hash: bytes
    studio_id: str
    key_id: str
    scopes: frozenset[str]
    expires: float
    checked: float
    # The key from the key cache, and the same key limited to this session.
    source: CachedKey | None = None
    limited: CachedKey | None = None


class SessionCache:
    def __init__(self, db: Database, peppers: tuple[str, ...], key_cache: KeyCache) -> None:
        self._db = db
        self._peppers = peppers
        self._key_cache = key_cache
        self._sessions: dict[str, CachedSession] = {}
        self._batches = BatchedLookup(self._look_up)

    async def authenticate(self, text: str, *, batched: bool = False) -> CachedKey:
        """The key of this cookie's session, limited to the session's scopes.

        `batched`: an unknown session is looked up with others, a moment later, like an unknown key.
        """
        parsed = parse_session(text, SESSION_HEAD)
        if parsed is None:
            raise ConsoleSessionEnded
        session = self._sessions.get(parsed.id)
        if session is None and batched:
            await self._batches.wait_for(parsed.id)
        elif session is None or session.checked + RECHECK_SECONDS < time.monotonic():
            await self._look_up([parsed.id])
        session = self._sessions.get(parsed.id)
        if session is None or session.expires < time.time():
            raise ConsoleSessionEnded
        if not is_hash_of(session.secret_hash, parsed.secret, self._peppers):
            raise ConsoleSessionEnded
        try:
            key = await self._key_cache.live(session.key_id)
        except (RevokedKey, ExpiredKey):
            raise ConsoleSessionEnded from None
        if session.limited is None or session.source is not key:
            session.source, session.limited = key, _limited(key, session, parsed.id)
        return session.limited

    async def end(self, text: str, *, batched: bool) -> None:
        key = await self.authenticate(text, batched=batched)
        async with self._db.connection() as conn:
            await console_sessions.end(conn, key.caller.studio_id, key.session_id)
        self._sessions.pop(key.session_id, None)

    async def _look_up(self, session_ids: Sequence[str]) -> set[str]:
        async with self._db.connection() as conn:
            rows = await console_sessions.presented(conn, session_ids)
        for session_id in session_ids:
            self._sessions.pop(session_id, None)
        if len(self._sessions) >= MAX_CACHED:
            self._sessions.clear()
        for row in rows:
            self._sessions[row["id"]] = CachedSession(
                secret_hash=row["secret_hash"],
                studio_id=row["studio_id"],
                key_id=row["key_id"],
                scopes=frozenset(row["scopes"]),
                expires=row["expires_at"].timestamp(),
                checked=time.monotonic(),
            )
        return {row["id"] for row in rows}


def _limited(key: CachedKey, session: CachedSession, session_id: str) -> CachedKey:
    caller = msgspec.structs.replace(key.caller, scopes=session.scopes & key.caller.scopes)
    return msgspec.structs.replace(key, caller=caller, session_id=session_id, signed_until=0.0, signed={})
