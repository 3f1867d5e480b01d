"""Guesses at the operators' token, limited per address: a short burst, then one a second."""

import time
from typing import Final

from litestar.types import ASGIApp, Receive, Scope, Send

from services.gateway.context import OperatorTokens
from services.gateway.routes.operator.pages import OPENAPI
from services.gateway.rules.rate_limit import FailedKeyLimits
from shared.errors import RateLimited
from shared.http.answer import Answer
from shared.http.client_address import TrustedProxies, address_of
from shared.http.error_mapping import answer_for
from shared.http.service import request_id_of, send_answer

PREFIX: Final = "/operator/"


class LimitedGuesses:
    """The operators' app. Who has a token is never held up, from whatever address others guess."""

    def __init__(self, app: ASGIApp, tokens: OperatorTokens, proxies: TrustedProxies) -> None:
        self._app = app
        self._tokens = tokens
        self._proxies = proxies
        self._failed = FailedKeyLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        guarded = scope["path"].startswith(PREFIX) and scope["path"] != OPENAPI
        if guarded and not self._tokens.accepts(headers):
            wait = self._failed.take(address_of(scope, headers, self._proxies), time.monotonic())
            if wait is not None:
                request_id = request_id_of(scope)
                refusal = answer_for(RateLimited(wait), request_id)
                await send_answer(send, Answer(refusal.body, refusal.status, refusal.headers), request_id)
                return
        await self._app(scope, receive, send)
