"""Who calls the operators' API: the holder of the operator token or one studio's staff, or their session."""

import hmac
from collections.abc import Mapping, Sequence
from contextvars import ContextVar

import asyncpg

from services.gateway.errors import BadOperatorToken
from services.gateway.key_cache import BatchedLookup
from services.gateway.rules.console_cookie import OPERATOR_COOKIE, cookie_of, sent_by_page
from services.gateway.rules.key_text import (
    OPERATOR_SESSION_HEAD,
    hash_secret,
    is_hash_of,
    parse_session,
    parse_staff_token,
)
from services.gateway.store import operator_sessions, staff_tokens
from shared.db.database import Database
from shared.http.caller import Caller

OPERATOR = Caller(studio_id="", actor="operator", role="operator")
# The caller of this request, set by `recognise`. `verify` is called later, where nothing can be awaited.
_recognised: ContextVar[Caller | None] = ContextVar("operator_caller", default=None)


class OperatorAccess:
    """Accepts all configured operator tokens, so that the token can be rotated, and live staff tokens.

    A staff token is looked up for each request: there are few of them, and a revoked token must be refused at
    once. `batched`: whether it exists is asked first, with others, a moment later. That is for addresses over
    their limit, whose guesses must not cost a query each.
    """

    def __init__(self, tokens: tuple[str, ...], db: Database | None, peppers: tuple[str, ...]) -> None:
        self._tokens = tuple(token.encode() for token in tokens)
        self._db = db
        self._peppers = peppers
        self._live = BatchedLookup(self._live_ids)

    async def recognise(self, headers: Mapping[bytes, bytes], *, batched: bool = False) -> Caller | None:
        """Must be called at the start of each request, before `verify`."""
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        caller = None
        if kind.lower() == b"bearer":
            caller = await self.holder_of(token, batched=batched)
        elif not kind and sent_by_page(headers):
            caller = await self._session(cookie_of(headers.items(), OPERATOR_COOKIE) or "", batched)
        _recognised.set(caller)
        return caller

    async def holder_of(self, token: bytes, *, batched: bool = False) -> Caller | None:
        known = any(hmac.compare_digest(token, one) for one in self._tokens)
        return OPERATOR if known else await self._staff(token, batched)

    def verify(self, headers: Mapping[bytes, bytes], request_id: str) -> Caller:
        caller = _recognised.get()
        if caller is None:
            raise BadOperatorToken
        return caller.with_request_id(request_id)

    async def _staff(self, token: bytes, batched: bool) -> Caller | None:
        parsed = parse_staff_token(token.decode("latin-1"))
        if parsed is None or self._db is None or (batched and not await self._live.wait_for(parsed.id)):
            return None
        async with self._db.connection() as conn:
            row = await staff_tokens.presented(conn, parsed.id)
            if row is None:
                return None
            if not is_hash_of(row["secret_hash"], parsed.secret, self._peppers):
                return None
            current = hash_secret(self._peppers[0], parsed.secret)
            if row["stale"] or current != row["secret_hash"]:
                await staff_tokens.record_use(conn, row["studio_id"], parsed.id, current)
        return Caller(studio_id=row["studio_id"], key_id=parsed.id, actor="operator", role=row["role"])

    async def _session(self, cookie: str, batched: bool) -> Caller | None:
        """A console session has the rights of the token it was opened with, for as long as that is valid."""
        row = await self._presented(cookie, batched)
        if row is None:
            return None
        if row["staff_token_id"] is None:
            tokens = [token.decode("utf-8", "replace") for token in self._tokens]
            known = any(is_hash_of(row["token_hash"], token, self._peppers) for token in tokens)
            return OPERATOR if known else None
        return Caller(
            studio_id=row["studio_id"], key_id=row["staff_token_id"], actor="operator", role=row["role"]
        )

    async def end_session(self, cookie: str, *, batched: bool = False) -> None:
        """Ends the session of this cookie, if there is one with its secret."""
        row = await self._presented(cookie, batched)
        if row is None or self._db is None:
            raise BadOperatorToken
        async with self._db.connection() as conn:
            await operator_sessions.end(conn, row["id"])

    async def _presented(self, cookie: str, batched: bool) -> asyncpg.Record | None:
        """The live session of this cookie, if its secret is right."""
        parsed = parse_session(cookie, OPERATOR_SESSION_HEAD)
        if parsed is None or self._db is None or (batched and not await self._live.wait_for(parsed.id)):
            return None
        async with self._db.connection() as conn:
            row = await operator_sessions.presented(conn, parsed.id)
        return row if row and is_hash_of(row["secret_hash"], parsed.secret, self._peppers) else None

    async def _live_ids(self, ids: Sequence[str]) -> set[str]:
        if self._db is None:
            return set()
        async with self._db.connection() as conn:
            return await staff_tokens.live_ids(conn, ids)
