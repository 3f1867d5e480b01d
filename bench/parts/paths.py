"""python -m bench.parts.paths ROUNDS: our lookup of paths without parameters against Litestar's router."""

import sys
from typing import Any

import uvloop
from litestar import Litestar, asgi
from litestar.types import ASGIApp, Receive, Scope, Send

from bench.parts.cpu import Use, in_turns, told
from shared.http.router import by_path
from shared.http.server import tune_garbage_collector

# The same number and kinds of routes as bookings has.
PATHS = (
    "/classes",
    "/bookings",
    "/bookings/preview",
    "/members",
    "/purchases",
    "/waitlist",
    "/staff/classes",
)
WITH_PARAMETERS = tuple(
    f"/{noun}/{{id}}" for noun in ("bookings", "classes", "members", "purchases", "waitlist")
)
USES = 1_600


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def main(rounds: int) -> None:
    ours = by_path(dict.fromkeys((*PATHS, *WITH_PARAMETERS), answer), on_error=lambda request, problem: None)
    litestar = Litestar(
        [asgi(path, copy_scope=False)(answer) for path in PATHS], openapi_config=None, logging_config=None
    )
    tune_garbage_collector()
    ways = {"ours": _requesting(ours), "Litestar's router": _requesting(litestar)}
    print(told({"a path without parameters": await in_turns(ways, rounds=rounds, uses=USES)}))


def _requesting(app: ASGIApp) -> Use:
    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        pass

    async def use() -> None:
        scope: Any = {
            "type": "http",
            "method": "GET",
            "path": "/classes",
            "raw_path": b"/classes",
            "root_path": "",
            "query_string": b"",
            "headers": [],
            "state": {},
        }
        await app(scope, receive, send)

    return use


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
