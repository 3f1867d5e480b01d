"""What the operators' port serves without a token: the document, the reference and the console's page."""

from services.gateway.routes.page_files import page_files
from services.gateway.routes.static_files import static_file, text_of
from shared.errors import MethodNotAllowed
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.error_mapping import answer_for
from shared.http.service import request_id_of, send_answer

OPENAPI = "/operator/v1/openapi.json"


def pages() -> dict[str, ASGIApp]:
    files = {
        OPENAPI: static_file("operators.json", b"application/json"),
        **page_files(
            "docs",
            "reference.html",
            title="Studio operators' API: reference",
            brand="Operators' API",
            document=OPENAPI,
            download="operators.json",
            content=text_of("docs/operators.html"),
        ),
        **page_files("console", "console.html", title="Operators' console", module="operators.js"),
    }
    return {path: _only_read(page) for path, page in files.items()}


def _only_read(page: ASGIApp) -> ASGIApp:
    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") in ("GET", "HEAD"):
            await page(scope, receive, send)
            return
        request_id = request_id_of(scope)
        await send_answer(send, answer_for(MethodNotAllowed(["GET"]), request_id), request_id)

    return read
