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
        if isinstance(body, str):
            return web.Response(status=status, text=body, headers=headers)
        return web.json_response(body, status=status, headers=headers)


@asynccontextmanager
async def scripted_server(
    handle: Callable[[web.Request], Any] | None = None,
) -> AsyncIterator[Scripted]:
    """`handle` answers in the place of the script."""
    scripted = Scripted()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle or scripted.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    scripted.url = f"http://127.0.0.1:{runner.addresses[0][1]}/partner/v1"
    try:
        yield scripted
    finally:
        await runner.cleanup()


def refusal(code: str, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "conflict", "code": code, "message": "No.", "param": None, "details": {}}
    return {"error": body | {"request_id": "r-1"} | fields}
