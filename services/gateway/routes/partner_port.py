"""What the partner port serves without a key: health, the OpenAPI document, the reference and the console."""

from collections.abc import Mapping

from services.gateway.routes.console_sign_in import PATH as SIGN_IN
from services.gateway.routes.static_files import only_read, page_files, redirect, static_file, text_of
from shared.errors import NotFound
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.health import Check
from shared.http.service import health_routes, raw_path_of, send_error
from shared.routing import PREFIX

OPENAPI = f"{PREFIX}/openapi.json"


class PartnerPort:
    """The whole partner port: a few public pages, and the partner API below its prefix."""

    def __init__(self, partner_api: ASGIApp, checks: Mapping[str, Check], sign_in: ASGIApp) -> None:
        self._partner_api = partner_api
        health = health_routes(checks)
        pages: dict[str, ASGIApp] = {
            "/": redirect("/docs"),
            # Metrics are for operators and are not served on the public port.
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
        self._pages = {path: only_read(page) for path, page in pages.items()} | {SIGN_IN: sign_in}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = raw_path_of(scope).decode("latin-1")
        page = self._pages.get(path)
        if page is not None:
            await page(scope, receive, send)
        elif path.startswith(PREFIX + "/") or path == PREFIX:
            await self._partner_api(scope, receive, send)
        else:
            await send_error(send, NotFound(), scope)
