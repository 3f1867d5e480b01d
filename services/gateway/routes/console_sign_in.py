"""`/console/session` of both ports: POST signs in and sets the cookie, DELETE signs out."""

import time
from typing import Final, Protocol

from services.gateway.errors import NotFromThePage
from services.gateway.rules.console_cookie import cookie_of, needs_secure, sent_by_page, set_cookie
from services.gateway.rules.rate_limit import FailedKeyLimits
from services.gateway.wire.key import SignedIn, SignIn
from shared.errors import MethodNotAllowed, RateLimited, Unauthenticated
from shared.http.asgi import Receive, Scope, Send
from shared.http.client_address import TrustedProxies, address_of
from shared.http.decoding import decode_body
from shared.http.error_mapping import response_for
from shared.http.response import Response
from shared.http.routes import checked_json, read_body
from shared.http.service import request_id_of, send_response
from shared.wire import encode, now

PATH: Final = "/console/session"
# A token is shorter, and the client is not authenticated yet.
MAX_BODY: Final = 4 * 1024


class ConsoleSessions(Protocol):
    """`batched`: the address is over its limit of refused tokens. A refusal is `Unauthenticated`."""

    @property
    def cookie(self) -> str: ...

    async def open(self, token: str, *, batched: bool) -> tuple[str, SignedIn]: ...

    async def end(self, cookie: str, *, batched: bool) -> None: ...


class ConsoleSignIn:
    """Guesses at tokens are limited per address, and count together with guesses at the API."""

    def __init__(self, sessions: ConsoleSessions, failed: FailedKeyLimits, proxies: TrustedProxies) -> None:
        self._sessions = sessions
        self._failed = failed
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = request_id_of(scope)
        try:
            response = await self._response(scope, receive)
        except Exception as problem:
            response = response_for(problem, request_id)
        await send_response(send, response, request_id)

    async def _response(self, scope: Scope, receive: Receive) -> Response:
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
                return self._with_cookie(Response(b"", 204), headers, "", 0)
            raise

    async def _sign_in(self, receive: Receive, headers: dict[bytes, bytes], batched: bool) -> Response:
        body = decode_body(SignIn, checked_json(await read_body(receive, headers, MAX_BODY), headers))
        cookie, signed_in = await self._sessions.open(body.token, batched=batched)
        seconds = max(1, int((signed_in.expires_at - now()).total_seconds()))
        return self._with_cookie(Response(encode(signed_in)), headers, cookie, seconds)

    async def _sign_out(self, scope: Scope, headers: dict[bytes, bytes], batched: bool) -> Response:
        """The cookie is deleted also if there was no such session."""
        if cookie := cookie_of(scope["headers"], self._sessions.cookie):
            await self._sessions.end(cookie, batched=batched)
        return self._with_cookie(Response(b"", 204), headers, "", 0)

    def _with_cookie(
        self, response: Response, headers: dict[bytes, bytes], value: str, seconds: int
    ) -> Response:
        cookie = set_cookie(self._sessions.cookie, value, seconds=seconds, secure=needs_secure(headers))
        return Response(response.body, response.status, (cookie, (b"cache-control", b"no-store")))
