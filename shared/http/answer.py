"""One HTTP answer, encoded: what a handler may return as it is, and what an error becomes."""

from msgspec import Struct


class Answer(Struct, frozen=True):
    body: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    content_type: bytes = b"application/json"
