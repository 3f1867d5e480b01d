"""Stopping without a cut: tell the others first, finish what runs, and leave no connection with hope in it.

A client may write its next request in the same moment in which an idle connection is closed; a write that is
lost so cannot be sent again. So while we drain we go on answering, say `Connection: close` in every answer,
and wait until idle connections have been given up by their clients (the gateway does after 4 s).
"""

import asyncio
import time

import structlog
from litestar.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger("serve")

DRAIN_TIMEOUT = 15.0
STOPPING = b'{"status":"not_ready","parts":{"process":"stopping"}}'


class Draining:
    def __init__(self) -> None:
        self.started = False
        self.in_flight = 0
        self._in_flight_before = 0
        self._changed = asyncio.Event()

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """`app`, with its requests counted; nothing more happens to them before the end."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            late = self.started
            if late:
                if scope.get("path") == "/health/ready":
                    await _not_ready(send)
                    return
                send = _with_connection_close(send)
            self.in_flight += 1
            try:
                await app(scope, receive, send)
            finally:
                self.in_flight -= 1
                if self.started:
                    self._in_flight_before -= not late
                    self._changed.set()

        return counted

    async def drain(self, seconds: float) -> None:
        """Readiness says no from here on, so that new connections go elsewhere; old ones end themselves."""
        self._start()
        began = time.monotonic()
        await self._wait_until_zero("_in_flight_before")
        await asyncio.sleep(seconds)
        log.info("drained", running=self.in_flight, seconds=round(time.monotonic() - began, 2))

    async def finish(self) -> None:
        """What still runs gets its time."""
        self._start()
        await self._wait_until_zero("in_flight")
        if self.in_flight:
            log.warning("requests_cut", running=self.in_flight)

    def _start(self) -> None:
        if not self.started:
            self.started = True
            self._in_flight_before = self.in_flight

    async def _wait_until_zero(self, count: str) -> None:
        deadline = time.monotonic() + DRAIN_TIMEOUT
        while getattr(self, count) > 0 and (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return


def _with_connection_close(send: Send) -> Send:
    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return send_and_close


async def _not_ready(send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(STOPPING))]
    await send(
        {"type": "http.response.start", "status": 503, "headers": [*headers, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": STOPPING, "more_body": False})
