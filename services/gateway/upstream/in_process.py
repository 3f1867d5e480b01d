"""Forwarding without a socket, for `studioctl up`, which runs every service in one process."""

import asyncio
from contextvars import Context
from typing import Any
from urllib.parse import unquote

import structlog

from services.gateway.upstream.messages import (
    Headers,
    NotReached,
    OutcomeUnknown,
    UpstreamResponse,
    check_target,
    end_to_end,
    forwarded_headers,
    framing_headers,
)
from shared.http.asgi import ASGIApp, Message, Scope

log = structlog.get_logger("upstream")


class AsgiUpstream:
    def __init__(self, app: ASGIApp, *, response_timeout: float = 10.0) -> None:
        self._app = app
        self._response_timeout = response_timeout
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    async def request(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> UpstreamResponse:
        check_target(method, target)
        sent = [
            *framing_headers(method, b"localhost", body),
            *((name.lower(), value) for name, value in forwarded_headers(headers)),
        ]
        if self._closed:
            raise NotReached("the service is closed")
        exchange = AsgiExchange(_scope(method, target, sent), body)
        # An empty context, as in another process: the gateway's log fields stay out of the service's lines.
        task = asyncio.get_running_loop().create_task(
            exchange.run(self._app, self._response_timeout), context=Context()
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # Not in `run`: a task cancelled before its first step never enters it, and the caller would wait on.
        task.add_done_callback(lambda _: exchange.fail("the exchange was given up"))
        try:
            return await exchange.response
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def close(self) -> None:
        self._closed = True
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


class AsgiExchange:
    """One request to an application in this process: the server's side of the protocol."""

    def __init__(self, scope: Scope, body: bytes) -> None:
        self._scope = scope
        self._request: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._clock = asyncio.timeout(None)
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._over = asyncio.Event()
        self.response: asyncio.Future[UpstreamResponse] = asyncio.get_running_loop().create_future()

    async def run(self, app: ASGIApp, time_limit: float) -> None:
        try:
            async with self._clock:
                self._clock.reschedule(asyncio.get_running_loop().time() + time_limit)
                await app(self._scope, self._receive, self._send)
        except Exception as error:
            if self._clock.expired():
                self.fail("the service did not answer in time")
                return
            log.error("service_raised", exc_info=error)
        if self._status:
            self.fail("the service stopped in the middle of its answer")
        else:  # as a server does when an application fails before it answers
            self._status = 500
            self._end()

    async def _receive(self) -> Message:
        if self._request is not None:
            request, self._request = self._request, None
            return request
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [
                (bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())
            ]
        elif message["type"] == "http.response.body" and not self._over.is_set():
            self._parts.append(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                if not self._clock.expired():  # an application may keep sending while it is being cancelled
                    self._clock.reschedule(None)  # work after the response has no time limit
                self._end()

    def _end(self) -> None:
        self._over.set()
        if not self.response.done():
            bodiless = self._scope["method"] == "HEAD" or self._status in (204, 304)
            body = b"" if bodiless else b"".join(self._parts)
            self.response.set_result(UpstreamResponse(self._status, end_to_end(self._headers), body))

    def fail(self, why: str) -> None:
        """Nothing happens if the response is complete."""
        self._over.set()
        if not self.response.done():
            self.response.set_exception(OutcomeUnknown(why))


def _scope(method: bytes, target: bytes, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method.decode("ascii"),
        "path": unquote(path),
        "raw_path": path,
        "query_string": query,
        "headers": headers,
        "client": None,
        "state": {},
    }
