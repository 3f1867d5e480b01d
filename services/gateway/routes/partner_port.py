"""What the partner port serves without a key: health, the OpenAPI document, the reference and the console."""

from services.gateway.routes.console_sign_in import PATH as SIGN_IN
from services.gateway.routes.static_files import page_files, static_file, text_of
from shared.errors import MethodNotAllowed, NotFound
from shared.http.answer import Answer
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.error_mapping import answer_for
from shared.http.service import Check, health_routes, raw_path_of, request_id_of, send_answer
from shared.routing import PREFIX

OPENAPI = f"{PREFIX}/openapi.json"


class PartnerPort:
    """The whole partner port: a few public pages, and the partner API below its prefix."""

    def __init__(self, partner_api: ASGIApp, checks: dict[str, Check], sign_in: ASGIApp) -> None:
        self._partner_api = partner_api
        self._sign_in = sign_in
        health = health_routes(checks)
        # Metrics are for operators and are not served on the public port.
        self._pages: dict[str, ASGIApp] = {
            "/": _to_the_reference,
            "/health/live": health["/health/live"],
            "/health/ready": health["/health/ready"],
            OPENAPI: static_file("openapi.json", b"application/json"),
            **page_files(
                "docs",
                "reference.html",
                title="Studio Partner API: reference",
                brand="Studio Partner API",
                document=OPENAPI,
                download="openapi.json",
                content=text_of("docs/partners.html"),
            ),
            "/docs/guides.json": static_file("guides.json", b"application/json"),
            **page_files("console", "console.html", title="Studio console", module="partner.js"),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = raw_path_of(scope).decode("latin-1")
        page = self._pages.get(path)
        if page is None and (path.startswith(PREFIX + "/") or path == PREFIX):
            await self._partner_api(scope, receive, send)
        elif path == SIGN_IN:
            await self._sign_in(scope, receive, send)
        elif page is None:
            await _refuse(NotFound(), scope, send)
        elif scope.get("method") not in ("GET", "HEAD"):
            await _refuse(MethodNotAllowed(["GET"]), scope, send)
        else:
            await page(scope, receive, send)


async def _to_the_reference(scope: Scope, receive: Receive, send: Send) -> None:
    answer = Answer(b"", 307, ((b"location", b"/docs"),), content_type=b"text/plain")
    await send_answer(send, answer, request_id_of(scope))


async def _refuse(problem: Exception, scope: Scope, send: Send) -> None:
    request_id = request_id_of(scope)
    await send_answer(send, answer_for(problem, request_id), request_id)
