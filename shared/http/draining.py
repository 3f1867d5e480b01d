"""Graceful shutdown: report not ready, finish running requests, close only connections nobody will reuse.

A client may send its next request at the very moment we close an idle connection, and a write that is lost
that way cannot be repeated. So while draining we keep answering, add `Connection: close` to every answer, and
wait until clients have given up their idle connections (the gateway does so after 4 s).
"""

import asyncio
import time

import structlog

from shared.http.asgi import ASGIApp, Message, Receive, Scope, Send

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
        """`app`, with its requests counted. Nothing else changes until draining starts."""

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
        """Report not ready, so that new connections go elsewhere, and let existing ones end by themselves."""
        self._start()
        began = time.monotonic()
        await self._wait_until_zero("_in_flight_before")
        await asyncio.sleep(seconds)
        log.info("drained", running=self.in_flight, seconds=round(time.monotonic() - began, 2))

    async def finish(self) -> None:
        """Wait for the requests that are still running."""
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
