"""A partner's server: an HTTP receiver on loopback that records requests and returns chosen statuses."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec import Struct


class Received(Struct, frozen=True):
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def sequence(self) -> int:
        return int(self.headers["webhook-sequence"])


Answering = Callable[[Received], Awaitable[web.StreamResponse]]


class Receiver:
    def __init__(self, url: str, keep: bool) -> None:
        self.url = url
        self.keep = keep
        self.received: list[Received] = []
        self.count = 0
        self.response: Answering = ok
        self._changed = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        got = Received(headers, await request.read(), time.perf_counter())
        if self.keep:
            self.received.append(got)
        self.count += 1
        self._changed.set()
        return await self.response(got)

    @property
    def ids(self) -> list[str]:
        return [got.event_id for got in self.received]

    async def until(self, fact: Callable[["Receiver"], bool], *, seconds: float = 20) -> None:
        """Waits for a condition on the received requests, never for a fixed time."""
        async with asyncio.timeout(seconds):
            while not fact(self):
                self._changed.clear()
                await self._changed.wait()

    async def until_count(self, count: int, *, seconds: float = 20) -> list[Received]:
        await self.until(lambda receiver: receiver.count >= count, seconds=seconds)
        return self.received


async def ok(_: Received) -> web.StreamResponse:
    return web.Response(text="thanks")


def answering(*statuses: int, headers: dict[str, str] | None = None, text: str = "") -> Answering:
    """Returns these statuses in turn, then repeats the last one."""
    left = list(statuses)

    async def response(_: Received) -> web.StreamResponse:
        status = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(status=status, headers=headers, text=text)

    return response


async def hang(_: Received) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


@asynccontextmanager
async def receiving(*, keep: bool = True, ssl_context: Any = None) -> AsyncIterator[Receiver]:
    app = web.Application(client_max_size=10_000_000)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    receiver = Receiver("", keep)
    app.router.add_route("*", "/{path:.*}", receiver.handle)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context, backlog=1024)
    await site.start()
    port = runner.addresses[0][1]
    receiver.url = f"{'https' if ssl_context else 'http'}://127.0.0.1:{port}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()
