"""Paths find their handlers; and what we changed inside Litestar is still needed and still works."""

from importlib.metadata import version
from typing import Any

import pytest
from litestar import Litestar, asgi
from litestar.types import ASGIApp, Receive, Scope, Send

from shared.http.router import by_path

KNOWN = "2.25"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the path parameters that it was given."""
    shown = ",".join(f"{name}={value}" for name, value in sorted(scope["path_params"].items()))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": shown.encode(), "more_body": False})


async def ask(app: ASGIApp, method: str, path: str) -> tuple[int, bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope: Any = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [],
        "state": {},
    }
    await app(scope, receive, send)
    return sent[0]["status"], sent[1]["body"]


def refused(request: Any, problem: Exception) -> Any:
    from litestar import Response

    return Response(b"refused", status_code=getattr(problem, "status_code", 500))


PATHS = ("/classes", "/classes/{class_id}", "/classes/{class_id}/spots/{spot_id}", "/classes/mine")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "BREW"])
@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/classes", b""),
        ("/classes/mine", b""),
        ("/classes/7", b"class_id=7"),
        ("/classes/7/spots/a%2Fb", b"class_id=7,spot_id=a%2Fb"),
    ],
)
async def test_a_path_finds_its_handler_for_every_method(method: str, path: str, given: bytes) -> None:
    """The handler itself knows its methods, and answers 405 for the rest."""
    app = by_path(dict.fromkeys(PATHS, echo), refused)
    assert await ask(app, method, path) == (200, given)


async def test_an_unknown_path_is_refused_by_the_given_function() -> None:
    """Litestar's own answer would have another form than ours."""
    app = by_path(dict.fromkeys(PATHS, echo), refused)
    for path in ("/", "/class", "/classes/7/spots", "/classes/7/spots/8/9"):
        assert await ask(app, "GET", path) == (404, b"refused")


def test_litestar_is_the_version_that_router_py_changes() -> None:
    """On a new one: does the next test still fail without our change? Then change the version here."""
    assert version("litestar").rpartition(".")[0] == KNOWN


async def test_litestar_alone_does_not_give_an_asgi_handler_its_path_parameters() -> None:
    """The reason for reaching into its tree of routes. Once this fails, that code can go."""
    app = Litestar(
        [asgi("/classes/{class_id:str}", copy_scope=False)(echo)],
        openapi_config=None,
        logging_config=None,
        exception_handlers={Exception: refused},
    )
    assert await ask(app, "GET", "/classes/7") == (500, b"refused")
