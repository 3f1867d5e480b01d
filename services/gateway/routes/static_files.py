"""Files that the partner port gives to everybody: compressed once at start, sent in pieces."""

import gzip
import zlib
from importlib import resources
from typing import Final

from litestar.types import ASGIApp, Receive, Scope, Send

from shared.http.answer import Answer
from shared.http.service import answer_headers, request_id_of, send_answer

STATIC: Final = resources.files("services.gateway") / "static"
# Sent as the client takes them: nobody without a key makes us hold a whole document for each connection. The
# server queues ten pieces; at 64 KiB that was the whole document again, 160 MB for 500 slow readers.
PIECE: Final = 8 * 1024
# Nothing from outside, nothing inline, in nobody's frame.
POLICY: Final = (
    b"default-src 'none'; connect-src 'self'; style-src 'self'; script-src 'self'; img-src data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY: Final = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


def static_file(name: str, content_type: bytes) -> ASGIApp:
    """A browser that has it already is told so."""
    body = (STATIC / name).read_bytes()
    plain, squeezed = _pieces(body), _pieces(gzip.compress(body, mtime=0))
    tag = b'W/"%08x"' % zlib.crc32(body)
    always: tuple[tuple[bytes, bytes], ...] = ((b"etag", tag), (b"vary", b"accept-encoding"), *SECURITY)

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        request_id = request_id_of(scope)
        if headers.get(b"if-none-match") == tag:
            await send_answer(send, Answer(b"", 304, always, content_type=content_type), request_id)
            return
        pieces, more = plain, always
        if b"gzip" in headers.get(b"accept-encoding", b""):
            pieces, more = squeezed, (*always, (b"content-encoding", b"gzip"))
        size = sum(len(piece) for piece in pieces)
        head = answer_headers(Answer(b"", 200, more, content_type=content_type), size, request_id)
        await send({"type": "http.response.start", "status": 200, "headers": head})
        for piece in pieces[:-1]:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": pieces[-1], "more_body": False})

    return page


def _pieces(body: bytes) -> tuple[bytes, ...]:
    return tuple(body[start : start + PIECE] for start in range(0, len(body), PIECE))
