"""Forwarding without a socket, for `studioctl up`, which runs every service in one process."""

import asyncio
from contextvars import Context
from urllib.parse import unquote

from services.gateway.upstream.answer import Headers, NotReached, UpstreamAnswer
from services.gateway.upstream.asgi_exchange import ASGIApp, AsgiExchange, Message
from services.gateway.upstream.request_head import check_target, forwarded_headers, framing_headers


class AsgiUpstream:
    def __init__(self, app: ASGIApp, *, answer_timeout: float = 10.0) -> None:
        self._app = app
        self._answer_timeout = answer_timeout
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    async def request(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> UpstreamAnswer:
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
            exchange.run(self._app, self._answer_timeout), context=Context()
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # Not in `run`: a task cancelled before its first step never enters it, and the caller would wait on.
        task.add_done_callback(lambda _: exchange.fail("the exchange was given up"))
        try:
            return await exchange.answer
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def close(self) -> None:
        self._closed = True
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def _scope(method: bytes, target: bytes, headers: list[tuple[bytes, bytes]]) -> Message:
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method.decode("ascii"),
        "path": unquote(path),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": ("localhost", None),
        "extensions": {},
        "state": {},
    }
