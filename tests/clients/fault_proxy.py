"""A proxy before the gateway that breaks attempts in every way a network has, and counts what came of them.

A write is known by its Idempotency-Key, which a client keeps through its attempts. After a few broken ones
the next one passes, so that a client that goes on reaches its end.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from shared.wire import new_id
from tests.clients.python.scripted_server import serving

KEY = "Idempotency-Key"
FORWARDED = ("X-Service-Key", "X-API-Version", "Content-Type", KEY)
# Of one write. A client makes five attempts.
BROKEN_ATTEMPTS = 3
# Longer than a client waits.
TIMEOUT, DELAY = 2.0, 2.5
BEFORE = ("cut before", "429", "503", "504 before")
AFTER = ("cut after", "cut midway", "504 after", "delay")


class FaultProxy:
    """`rate` is the share of attempts that are broken. With `new_keys` each attempt gets a key of its own, as
    from a client that makes one for each attempt.
    """

    def __init__(self, session: aiohttp.ClientSession, upstream: str, *, rate: float, new_keys: bool) -> None:
        self._session = session
        self._upstream = upstream
        self._rate = rate
        self._new_keys = new_keys
        self._random = random.Random(37)
        self._broken: Counter[str] = Counter()
        self.url = ""
        self.faults: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        # By key: how often the API did what was asked, and not only repeated its answer.
        self.effects: Counter[str] = Counter()

    def _choose(self, key: str) -> str:
        self.attempts[key] += 1
        if self._broken[key] >= BROKEN_ATTEMPTS or self._random.random() >= self._rate:
            return ""
        self._broken[key] += 1
        # A delay costs seconds, so it is rare.
        weights = [4] * len(BEFORE) + [4, 4, 4, 1]
        fault = self._random.choices(BEFORE + AFTER, weights)[0]
        self.faults[fault] += 1
        return fault

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body, key = await request.read(), request.headers.get(KEY, "")
        fault = self._choose(key)
        match fault:
            case "cut before":
                return _cut(request)
            case "429" | "503":
                return web.Response(status=int(fault), headers={"Retry-After": "0"})
            case "504 before":
                return web.Response(status=504)
        answer, content = await self._forward(request, body, key)
        match fault:
            case "cut after":
                return _cut(request)
            case "504 after":
                return web.Response(status=504)
            case "delay":
                await asyncio.sleep(DELAY)
                return _cut(request)
        kept = ("Content-Type", "Retry-After", "X-Request-Id", "Idempotent-Replayed")
        headers = {name: answer.headers[name] for name in kept if name in answer.headers}
        if fault == "cut midway":
            partial = web.StreamResponse(status=answer.status, headers=headers)
            partial.content_length = len(content) + 10
            await partial.prepare(request)
            await partial.write(content)
            return _cut(request)
        return web.Response(status=answer.status, body=content, headers=headers)

    async def _forward(
        self, request: web.Request, body: bytes, key: str
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        headers = {name: request.headers[name] for name in FORWARDED if name in request.headers}
        if self._new_keys and key:
            headers[KEY] = new_id()
        url = self._upstream + request.raw_path
        async with self._session.request(request.method, url, data=body, headers=headers) as answer:
            content = await answer.read()
        if answer.status < 300 and "Idempotent-Replayed" not in answer.headers:
            self.effects[key] += 1
        return answer, content


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


@asynccontextmanager
async def fault_proxy(upstream: str, *, rate: float, new_keys: bool = False) -> AsyncIterator[FaultProxy]:
    async with aiohttp.ClientSession(skip_auto_headers=["User-Agent", "Content-Type"]) as session:
        proxy = FaultProxy(session, upstream, rate=rate, new_keys=new_keys)
        async with serving(proxy.handle) as proxy.url:
            yield proxy
