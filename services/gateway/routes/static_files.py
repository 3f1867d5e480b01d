"""Files that are served without authentication: compressed on the first request, sent in chunks."""

import asyncio
import hashlib
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Final

from services.gateway.rules.rate_limit import Spacing
from shared.errors import MethodNotAllowed
from shared.http.asgi import ASGIApp, Receive, Scope, Send
from shared.http.response import CACHE_CONTROL, Response, matches, tag_from
from shared.http.service import always, request_id_of, response_headers, send_error, send_response

_digest = partial(hashlib.blake2b, digest_size=16)

STATIC: Final = Path(__file__).parent.parent / "static"
# Sent as the client reads, so that an unauthenticated connection never makes us buffer a whole document. The
# server queues ten chunks; at 64 KiB that was the whole document again, 160 MB for 500 slow readers.
PIECE: Final = 8 * 1024
# All readers together get 2 MB a second, so that a burst of them does not delay requests to the API.
_spacing: Final = Spacing(0.004)
GZIP: Final = zlib.MAX_WBITS | 16
# No other hosts, nothing inline, not inside frames.
POLICY: Final = (
    b"default-src 'none'; connect-src 'self'; style-src 'self'; script-src 'self'; img-src data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY: Final = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


def text_of(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def static_file(name: str, content_type: bytes, **values: str) -> ASGIApp:
    """304 for a browser that already has the file. `values` replace the file's `$name` placeholders."""
    always: tuple[tuple[bytes, bytes], ...] = ((b"vary", b"accept-encoding"), CACHE_CONTROL, *SECURITY)

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        request_headers = scope["headers"]
        request_id = request_id_of(scope)
        takes_gzip = b"gzip" in dict(request_headers).get(b"accept-encoding", b"")
        size, tag, squeezed, gzip_tag = _compressed(name, **values)
        more = (*always, (b"etag", tag))
        if takes_gzip:
            size, tag = len(squeezed), gzip_tag
            more = (*always, (b"etag", tag), (b"content-encoding", b"gzip"))
        if matches(tag, request_headers):
            await send_response(send, Response(b"", 304, more, content_type=content_type), request_id)
            return
        head = response_headers(Response(b"", 200, more, content_type=content_type), size, request_id)
        await send({"type": "http.response.start", "status": 200, "headers": head})
        if scope.get("method") != "HEAD":
            await _send_pieces(_pieces(squeezed, PIECE) if takes_gzip else _unpacked(squeezed), send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return page


def only_read(page: ASGIApp) -> ASGIApp:
    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") in ("GET", "HEAD"):
            await page(scope, receive, send)
        else:
            await send_error(send, MethodNotAllowed(["GET"]), scope)

    return read


def _parts(name: str, values: Mapping[str, str]) -> Iterator[bytes]:
    """A whole document in memory, even for a moment, would stay part of the process's heap."""
    if values:
        yield Template(text_of(name)).substitute(values).encode()
        return
    with (STATIC / name).open("rb") as file:
        while part := file.read(64 * 1024):
            yield part


@cache
def _compressed(name: str, **values: str) -> tuple[int, bytes, bytes, bytes]:
    """Size and tag of the whole, its compressed form and the tag of that.

    Once for both ports, and not at the start: it would take as long as to open all services.
    """
    # A third of the time of the highest level for 5 % more bytes.
    squeeze = zlib.compressobj(6, wbits=GZIP)
    digest, squeezed, size = _digest(), bytearray(), 0
    for part in _parts(name, values):
        size += len(part)
        digest.update(part)
        squeezed += squeeze.compress(part)
    squeezed += squeeze.flush()
    return size, tag_from(digest.hexdigest()), bytes(squeezed), tag_from(_digest(squeezed).hexdigest())


async def _send_pieces(pieces: Iterator[bytes], send: Send) -> None:
    for piece in pieces:
        # A timer has a resolution of a millisecond.
        if (pause := _spacing.pause(time.monotonic())) > 0.002:
            await asyncio.sleep(pause)
        await send({"type": "http.response.body", "body": piece, "more_body": True})


def _pieces(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


def _unpacked(squeezed: bytes) -> Iterator[bytes]:
    """Only the compressed form is kept: the documents are 15 times as large."""
    unpack = zlib.decompressobj(wbits=GZIP)
    # The part that is not yet used is copied for each piece, so it is kept small.
    for part in _pieces(squeezed, 512):
        rest = part
        while rest:
            if piece := unpack.decompress(rest, PIECE):
                yield piece
            rest = unpack.unconsumed_tail
    yield from _pieces(unpack.flush(), PIECE)


def redirect(to: str) -> ASGIApp:
    async def response() -> Response:
        return Response(b"", 307, ((b"location", to.encode()),), content_type=b"text/plain")

    return always(response)


# The files of the reference and the consoles, each with the modules that both ports share.
TYPES: Final = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
}


def page_files(folder: str, page: str, **values: str) -> dict[str, ASGIApp]:
    """Each file by its path. Only files that exist at start are ever served. `values` are for the page."""
    found = sorted(path for path in (STATIC / folder).rglob("*") if path.suffix in TYPES)
    files = {
        f"/{name}": static_file(name, TYPES[path.suffix])
        for path in found
        for name in [path.relative_to(STATIC).as_posix()]
    }
    return {f"/{folder}": static_file(f"{folder}/{page}", b"text/html; charset=utf-8", **values), **files}
