"""Console sessions of partners. A session acts for its key, with the same or fewer scopes, until it ends.

The key's state comes from the key cache, so revoking a key ends its sessions just as fast.
"""

from typing import Final

import msgspec

from services.gateway.errors import ConsoleLinkUsed, ConsoleSessionEnded, ExpiredKey, RevokedKey
from services.gateway.key_cache import CachedKey, KeyCache
from services.gateway.rules.console_cookie import PARTNER_COOKIE
from services.gateway.rules.key_text import LINK_HEAD, SESSION_HEAD, hash_secret, make_token
from services.gateway.secret_lookup import SecretLookup
from services.gateway.store import console_sessions
from services.gateway.wire.key import SignedIn
from shared.db.database import Database
from shared.wire import now

# A session that was ended on another replica is refused here after at most this time.
RECHECK_SECONDS: Final = 1.0


class PartnerSessions:
    cookie = PARTNER_COOKIE

    def __init__(self, db: Database, peppers: tuple[str, ...], key_cache: KeyCache) -> None:
        self._db = db
        self._peppers = peppers
        self._key_cache = key_cache
        self._links = SecretLookup(db, peppers, LINK_HEAD, console_sessions.open_links)
        self._sessions = SecretLookup(
            db, peppers, SESSION_HEAD, console_sessions.presented, kept=RECHECK_SECONDS
        )

    async def authenticate(self, cookie: str, *, batched: bool = False) -> CachedKey:
        """The key of this cookie's session, limited to the session's scopes."""
        found = await self._sessions.find(cookie, batched=batched)
        if found is None or found.row["expires_at"] < now():
            raise ConsoleSessionEnded
        try:
            key = await self._key_cache.live(found.row["key_id"])
        except (RevokedKey, ExpiredKey):
            raise ConsoleSessionEnded from None
        caller = msgspec.structs.replace(
            key.caller, scopes=key.caller.scopes.intersection(found.row["scopes"])
        )
        return msgspec.structs.replace(
            key, caller=caller, session_id=found.row["id"], signed_at=0.0, signed={}
        )

    async def open(self, token: str, *, batched: bool) -> tuple[str, SignedIn]:
        """Uses the link of this token up. Returns the session's cookie."""
        link = await self._links.find(token, batched=batched)
        if link is None:
            raise ConsoleLinkUsed
        session = make_token(SESSION_HEAD, link.row["id"])
        async with self._db.transaction() as conn:
            expires_at = await console_sessions.exchange(
                conn, link.row, hash_secret(self._peppers[0], session.secret)
            )
        if expires_at is None:
            raise ConsoleLinkUsed
        return session.text, SignedIn(expires_at=expires_at)

    async def end(self, cookie: str, *, batched: bool) -> None:
        key = await self.authenticate(cookie, batched=batched)
        async with self._db.connection() as conn:
            await console_sessions.end(conn, key.caller.studio_id, key.session_id)
        self._sessions.forget(key.session_id)
