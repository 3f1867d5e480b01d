"""What the partner port serves without a key, and with which security headers."""

import asyncio
import time
from typing import Any

import pytest

from services.gateway.routes.static_files import PIECE_SECONDS, Pace, static_file
from tests.harness.system import System


@pytest.mark.parametrize("path", ["/docs", "/docs/page.js", "/docs/page.css", "/partner/v1/openapi.json"])
async def test_a_browser_is_told_by_header_what_a_page_may_do(system: System, path: str) -> None:
    """Nothing inline, nobody's frame, no guessing of types, no referrer."""
    answer = await system.site.get(path)
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert int(answer.headers["Content-Length"]) > 0


async def test_a_page_comes_whole_in_its_pieces(system: System) -> None:
    """Plain and compressed, and 304 for a browser that has it."""
    plain = await system.site.send("GET", "/partner/v1/openapi.json", headers={"Accept-Encoding": "identity"})
    squeezed = await system.site.send("GET", "/partner/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert plain.json() == squeezed.json()
    assert int(plain.headers["Content-Length"]) == len(plain.body)
    assert plain.headers["ETag"] != squeezed.headers["ETag"], "a strong tag is that of one form's bytes"
    for held, form in ((plain, "identity"), (squeezed, "gzip")):
        conditional = {"If-None-Match": held.headers["ETag"], "Accept-Encoding": form}
        again = await system.site.send("GET", "/partner/v1/openapi.json", headers=conditional)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["Cache-Control"] == held.headers["Cache-Control"] == "private, no-cache"
    head = await system.site.send("HEAD", "/partner/v1/openapi.json", headers={"Accept-Encoding": "identity"})
    assert (head.status, head.headers["Content-Length"]) == (200, plain.headers["Content-Length"])


async def test_many_readers_of_a_document_take_turns() -> None:
    """A burst of readers shares a fixed rate, so that requests to the API run in between."""
    pace = Pace()
    began = time.monotonic()
    await pace.turn()
    assert time.monotonic() - began < PIECE_SECONDS * 100, "control: one reader does not wait"
    await asyncio.gather(*(pace.turn() for _ in range(400)))
    assert time.monotonic() - began >= PIECE_SECONDS * 390


async def bodies_sent(method: str, *, gone: bool) -> int:
    """How many parts of the document are sent to a client, which may be gone already."""
    page, sent = static_file("openapi.json", b"application/json"), 0

    async def receive() -> Any:
        if not gone:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal sent
        sent += message["type"] == "http.response.body"

    scope: Any = {"type": "http", "method": method, "headers": []}
    await page(scope, receive, send)
    return sent


async def test_nothing_is_prepared_for_a_client_that_does_not_read_it() -> None:
    """A client that is gone, or that asked with HEAD, does not take turns from the others."""
    assert await bodies_sent("GET", gone=False) > 50, "control: a reader gets the document in pieces"
    assert await bodies_sent("GET", gone=True) < 10
    assert await bodies_sent("HEAD", gone=False) == 1
