"""Limits guesses at the operators' token per address: a short burst, then one per second."""

import time
from typing import Final

from litestar.types import ASGIApp, Receive, Scope, Send

from services.gateway.access import OperatorAccess
from services.gateway.routes.operator.pages import OPENAPI
from services.gateway.rules.rate_limit import FailedKeyLimits
from shared.errors import RateLimited
from shared.http.client_address import TrustedProxies, address_of
from shared.http.error_mapping import answer_for
from shared.http.service import request_id_of, send_answer

PREFIX: Final = "/operator/"


class LimitedGuesses:
    """The operators' app. Valid tokens are never delayed, even if others guess from the same address."""

    def __init__(
        self,
        app: ASGIApp,
        access: OperatorAccess,
        proxies: TrustedProxies,
        failed: FailedKeyLimits | None = None,
    ) -> None:
        self._app = app
        self._access = access
        self._proxies = proxies
        self._failed = failed or FailedKeyLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        guarded = scope["path"].startswith(PREFIX) and scope["path"] != OPENAPI
        if guarded:
            try:
                await self._recognise(scope, headers)
            except Exception as problem:
                request_id = request_id_of(scope)
                await send_answer(send, answer_for(problem, request_id), request_id)
                return
        await self._app(scope, receive, send)

    async def _recognise(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """A caller that is not recognised gets 401 later, until its address has guessed too often."""
        if await self._access.recognise(headers, scope["path"]):
            return
        wait = self._failed.take(address_of(scope, headers, self._proxies), time.monotonic())
        if wait is not None:
            raise RateLimited(wait)
