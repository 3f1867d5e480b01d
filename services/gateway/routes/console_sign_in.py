"""`/console/session` of both ports: POST signs in and sets the cookie, DELETE signs out."""

import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from services.gateway.access import OperatorAccess
from services.gateway.actions.open_console import OpenLinks, exchange_link, open_operator_console
from services.gateway.errors import ConsoleLinkUsed, NotFromThePage
from services.gateway.rules.console_cookie import (
    OPERATOR_COOKIE,
    PARTNER_COOKIE,
    cookie_of,
    needs_secure,
    sent_by_page,
    set_cookie,
)
from services.gateway.rules.rate_limit import FailedKeyLimits
from services.gateway.session_cache import SessionCache
from services.gateway.wire.key import OperatorSignedIn, SignedIn, SignIn
from shared.db.database import Database
from shared.errors import BodyTooLarge, MethodNotAllowed, RateLimited, Unauthenticated
from shared.http.answer import Answer
from shared.http.asgi import Receive, Scope, Send
from shared.http.client_address import TrustedProxies, address_of
from shared.http.decoding import decode_body
from shared.http.error_mapping import answer_for
from shared.http.routes import checked_json, read_body
from shared.http.service import request_id_of, send_answer
from shared.wire import encode, now

PATH: Final = "/console/session"
MAX_BODY: Final = 4 * 1024


class OpenedSession(Struct, frozen=True):
    cookie: str
    expires_at: datetime
    answer: Any


# Token or cookie, and whether look-ups are batched: the address is over its limit.
OpenSession = Callable[[str, bool], Awaitable[OpenedSession]]
EndSession = Callable[[str, bool], Awaitable[None]]


class ConsoleSignIn:
    """Guesses at tokens are limited per address, and count together with guesses at the API."""

    def __init__(
        self,
        cookie: str,
        open_session: OpenSession,
        end_session: EndSession,
        failed: FailedKeyLimits,
        proxies: TrustedProxies,
    ) -> None:
        self._cookie = cookie
        self._open = open_session
        self._end = end_session
        self._failed = failed
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = request_id_of(scope)
        try:
            answer = await self._answer(scope, receive)
        except Exception as problem:
            answer = answer_for(problem, request_id)
        await send_answer(send, answer, request_id)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        headers = dict(scope["headers"])
        method = scope.get("method")
        if method not in ("POST", "DELETE"):
            raise MethodNotAllowed(["POST", "DELETE"])
        if not sent_by_page(headers):
            raise NotFromThePage
        address, at = address_of(scope, headers, self._proxies), time.monotonic()
        batched = self._failed.is_exhausted(address, at)
        try:
            if method == "DELETE":
                return await self._sign_out(scope, headers, batched)
            return await self._sign_in(receive, headers, batched)
        except Unauthenticated:
            if (wait := self._failed.take(address, at)) is not None:
                raise RateLimited(wait) from None
            if method == "DELETE":
                return self._with_cookie(Answer(b"", 204), headers, "", 0)
            raise

    async def _sign_in(self, receive: Receive, headers: dict[bytes, bytes], batched: bool) -> Answer:
        body = decode_body(SignIn, checked_json(await _read(receive, headers), headers))
        opened = await self._open(body.token, batched)
        seconds = max(1, int((opened.expires_at - now()).total_seconds()))
        return self._with_cookie(Answer(encode(opened.answer)), headers, opened.cookie, seconds)

    async def _sign_out(self, scope: Scope, headers: dict[bytes, bytes], batched: bool) -> Answer:
        """The cookie is deleted also if there was no such session."""
        if cookie := cookie_of(scope["headers"], self._cookie):
            await self._end(cookie, batched)
        return self._with_cookie(Answer(b"", 204), headers, "", 0)

    def _with_cookie(self, answer: Answer, headers: dict[bytes, bytes], value: str, seconds: int) -> Answer:
        cookie = set_cookie(self._cookie, value, seconds=seconds, secure=needs_secure(headers))
        return Answer(answer.body, answer.status, (cookie, (b"cache-control", b"no-store")))


async def _read(receive: Receive, headers: dict[bytes, bytes]) -> bytes:
    """Limited to the length of a token, because the client is not authenticated yet."""
    try:
        return await read_body(receive, headers, MAX_BODY)
    except BodyTooLarge:
        raise BodyTooLarge("The body is larger than 4 KiB.") from None


def partner_sign_in(
    db: Database,
    peppers: tuple[str, ...],
    sessions: SessionCache,
    failed: FailedKeyLimits,
    proxies: TrustedProxies,
) -> ConsoleSignIn:
    links = OpenLinks(db)

    async def sign_in(token: str, batched: bool) -> OpenedSession:
        if batched and not await links.may_be_open(token):
            raise ConsoleLinkUsed
        cookie, expires_at = await exchange_link(db, peppers, token)
        return OpenedSession(cookie, expires_at, SignedIn(expires_at=expires_at))

    async def sign_out(cookie: str, batched: bool) -> None:
        await sessions.end(cookie, batched=batched)

    return ConsoleSignIn(PARTNER_COOKIE, sign_in, sign_out, failed, proxies)


def operator_sign_in(
    db: Database,
    peppers: tuple[str, ...],
    access: OperatorAccess,
    failed: FailedKeyLimits,
    proxies: TrustedProxies,
) -> ConsoleSignIn:
    async def sign_in(token: str, batched: bool) -> OpenedSession:
        cookie, expires_at, caller = await open_operator_console(db, peppers, access, token, batched=batched)
        signed_in = OperatorSignedIn(
            expires_at=expires_at, role=caller.role, studio_id=caller.studio_id or None
        )
        return OpenedSession(cookie, expires_at, signed_in)

    async def sign_out(cookie: str, batched: bool) -> None:
        await access.end_session(cookie, batched=batched)

    return ConsoleSignIn(OPERATOR_COOKIE, sign_in, sign_out, failed, proxies)
