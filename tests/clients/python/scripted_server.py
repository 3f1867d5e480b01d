"""A server that answers what a test has written down, and remembers what was asked."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec import Struct

# Cut the connection in the place of an answer.
CUT = 0


class SeenRequest(Struct):
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Scripted(Struct):
    """`answers` are given in their order, the last one again and again: status, body, headers."""

    url: str = ""
    answers: list[tuple[int, Any, dict[str, str]]] = []
    requests: list[SeenRequest] = []

    def then(self, status: int, body: Any = None, **headers: str) -> "Scripted":
        self.answers.append((status, body, {name.replace("_", "-"): one for name, one in headers.items()}))
        return self

    async def handle(self, request: web.Request) -> web.Response:
        self.requests.append(
            SeenRequest(request.method, request.raw_path, request.headers, await request.read())
        )
        status, body, headers = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if status == CUT:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if body is None:
            return web.Response(status=status, headers=headers)
        if isinstance(body, str | bytes):
            content = body.encode() if isinstance(body, str) else body
            return web.Response(status=status, body=content, headers=headers)
        return web.json_response(body, status=status, headers=headers)


@asynccontextmanager
async def serving(handle: Callable[[web.Request], Any]) -> AsyncIterator[str]:
    """The URL of a server that answers everything by this."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/partner/v1"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def scripted_server() -> AsyncIterator[Scripted]:
    scripted = Scripted()
    async with serving(scripted.handle) as scripted.url:
        yield scripted


def refusal(code: str, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "conflict", "code": code, "message": "No.", "param": None, "details": {}}
    return {"error": body | {"request_id": "r-1"} | fields}
