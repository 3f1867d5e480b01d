"""Answers on the port while the service starts: live, not ready, with the parts it waits for.

A probe that finds no listener cannot tell a slow migration from a dead process, and restarts the pod.
"""

from collections.abc import Awaitable, Mapping

from shared.errors import Unavailable
from shared.http.answer import Answer
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.error_mapping import answer_for
from shared.http.service import send_answer
from shared.wire import encode, new_id


class StartupPlaceholder:
    """An ASGI app that is replaced by `become`; `waiting_for` has the state of each part."""

    def __init__(self, waiting_for: Mapping[str, str]) -> None:
        self._waiting_for = waiting_for
        self._app: ASGIApp = self._wait

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._app(scope, receive, send)

    def become(self, app: ASGIApp) -> None:
        self._app = app

    async def _wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = new_id()
        await send_answer(send, self._answer(scope["path"], request_id), request_id)

    def _answer(self, path: str, request_id: str) -> Answer:
        if path == "/health/live":
            return Answer(b'{"status":"ok"}', 200)
        if path == "/health/ready":
            return Answer(encode({"status": "waiting", "parts": dict(self._waiting_for)}), 503)
        refusal = answer_for(Unavailable("The service is starting; try again in a moment."), request_id)
        return Answer(refusal.body, refusal.status, headers=((b"retry-after", b"1"),))
