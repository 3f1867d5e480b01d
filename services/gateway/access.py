"""Who calls the operators' API: the holder of the operator token or one studio's staff, or their session."""

import hmac
from collections.abc import Mapping
from typing import Final

from services.gateway.errors import BadOperatorToken
from services.gateway.rules.console_cookie import OPERATOR_COOKIE, cookie_of, sent_by_page
from services.gateway.rules.key_text import (
    OPERATOR_SESSION_HEAD,
    STAFF_HEAD,
    hash_secret,
    is_hash_of,
    make_token,
)
from services.gateway.secret_lookup import SecretLookup
from services.gateway.store import operator_sessions, staff_tokens
from services.gateway.wire.key import OperatorSignedIn
from shared.db.database import Database
from shared.http.caller import Caller

OPERATOR: Final = Caller(studio_id="", actor="operator", role="operator")


class OperatorAccess:
    """Accepts all configured operator tokens, so that the token can be rotated, and live staff tokens."""

    cookie = OPERATOR_COOKIE

    def __init__(self, tokens: tuple[str, ...], db: Database, peppers: tuple[str, ...]) -> None:
        self._tokens = tokens
        self._db = db
        self._peppers = peppers
        self._staff_tokens = SecretLookup(db, peppers, STAFF_HEAD, staff_tokens.presented)
        self._sessions = SecretLookup(db, peppers, OPERATOR_SESSION_HEAD, operator_sessions.presented)

    async def recognise(self, headers: Mapping[bytes, bytes], *, batched: bool = False) -> Caller | None:
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() == b"bearer":
            return await self._holder_of(token, batched)
        if not kind and sent_by_page(headers):
            return await self._session(cookie_of(headers.items(), OPERATOR_COOKIE) or "", batched)
        return None

    async def open(self, token: str, *, batched: bool = False) -> tuple[str, OperatorSignedIn]:
        """Opens a session with the rights of this token. Returns the session's cookie."""
        caller = await self._holder_of(token.encode("utf-8", "replace"), batched)
        if caller is None:
            raise BadOperatorToken
        new = make_token(OPERATOR_SESSION_HEAD)
        async with self._db.transaction() as conn:
            expires_at = await operator_sessions.add(
                conn,
                new,
                secret_hash=hash_secret(self._peppers[0], new.secret),
                token_hash=None if caller.studio_id else hash_secret(self._peppers[0], token),
                studio_id=caller.studio_id or None,
                staff_token_id=caller.key_id or None,
            )
        signed_in = OperatorSignedIn(
            expires_at=expires_at, role=caller.role, studio_id=caller.studio_id or None
        )
        return new.text, signed_in

    async def end(self, cookie: str, *, batched: bool) -> None:
        """Ends the session of this cookie, if there is one with its secret."""
        found = await self._sessions.find(cookie, batched=batched)
        if found is None:
            raise BadOperatorToken
        async with self._db.connection() as conn:
            await operator_sessions.end(conn, found.row["id"])

    async def _holder_of(self, token: bytes, batched: bool) -> Caller | None:
        if any(hmac.compare_digest(token, known.encode()) for known in self._tokens):
            return OPERATOR
        found = await self._staff_tokens.find(token.decode("latin-1"), batched=batched)
        if found is None:
            return None
        row = found.row
        if row["stale"] or found.current_hash != row["secret_hash"]:
            async with self._db.connection() as conn:
                await staff_tokens.record_use(conn, row["studio_id"], row["id"], found.current_hash)
        return Caller(studio_id=row["studio_id"], key_id=row["id"], actor="operator", role=row["role"])

    async def _session(self, cookie: str, batched: bool) -> Caller | None:
        """A console session has the rights of the token it was opened with, for as long as that is valid."""
        found = await self._sessions.find(cookie, batched=batched)
        if found is None:
            return None
        row = found.row
        if row["staff_token_id"] is None:
            known = any(is_hash_of(row["token_hash"], token, self._peppers) for token in self._tokens)
            return OPERATOR if known else None
        return Caller(
            studio_id=row["studio_id"], key_id=row["staff_token_id"], actor="operator", role=row["role"]
        )
