"""What the partner port serves without a key: health, the OpenAPI document and the reference page."""

import gzip
import zlib
from importlib import resources

from litestar.types import ASGIApp, Receive, Scope, Send

from services.gateway.routing import PREFIX
from shared.errors import MethodNotAllowed, NotFound
from shared.http.error_mapping import answer_for
from shared.http.routes import Answer
from shared.http.service import Check, health_routes, sane_request_id, send_answer

STATIC = resources.files("services.gateway") / "static"
OPENAPI = f"{PREFIX}/openapi.json"


class Site:
    """The whole partner port: a few open pages, and the partner API behind its prefix."""

    def __init__(self, partner_api: ASGIApp, checks: dict[str, Check]) -> None:
        self._partner_api = partner_api
        health = health_routes(checks)
        # Metrics are the operators' and stay off the public port.
        self._pages: dict[str, ASGIApp] = {
            "/health/live": health["/health/live"],
            "/health/ready": health["/health/ready"],
            OPENAPI: _file("openapi.json", b"application/json"),
            "/docs": _file("docs.html", b"text/html; charset=utf-8"),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        page = self._pages.get(path)
        if page is None and (path.startswith(PREFIX + "/") or path == PREFIX):
            await self._partner_api(scope, receive, send)
        elif page is None:
            await _refuse(NotFound(), scope, send)
        elif scope.get("method") not in ("GET", "HEAD"):
            await _refuse(MethodNotAllowed(["GET"]), scope, send)
        else:
            await page(scope, receive, send)


def _file(name: str, content_type: bytes) -> ASGIApp:
    """Squeezed once at start; a browser that has it already is told so."""
    body = (STATIC / name).read_bytes()
    squeezed = gzip.compress(body, mtime=0)
    tag = b'W/"%08x"' % zlib.crc32(body)
    always = ((b"etag", tag), (b"vary", b"accept-encoding"))

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if headers.get(b"if-none-match") == tag:
            answer = Answer(b"", 304, always, content_type=content_type)
        elif b"gzip" in headers.get(b"accept-encoding", b""):
            answer = Answer(
                squeezed, 200, (*always, (b"content-encoding", b"gzip")), content_type=content_type
            )
        else:
            answer = Answer(body, 200, always, content_type=content_type)
        await send_answer(send, answer, _request_id(scope))

    return page


async def _refuse(problem: Exception, scope: Scope, send: Send) -> None:
    request_id = _request_id(scope)
    failed = answer_for(problem, request_id)
    await send_answer(send, Answer(failed.body, failed.status, failed.headers), request_id)


def _request_id(scope: Scope) -> str:
    return sane_request_id(dict(scope["headers"]).get(b"x-request-id"))
