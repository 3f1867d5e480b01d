"""One HTTP response, encoded: what a handler may return as it is, and what an error becomes."""

import hashlib
from collections.abc import AsyncIterator, Iterable
from typing import Final

from msgspec import Struct
from xxhash import xxh3_128_hexdigest


class Response(Struct, frozen=True):
    body: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    content_type: bytes = b"application/json"
    # What follows `body`, sent while it is read. The status is out by then: a failure ends the connection.
    rest: AsyncIterator[bytes] | None = None


# Conditional GET: a strong ETag over the body, and 304 for a caller that already holds that body.
#
# The tag is a digest of the body, with nothing of the key in it. Equal bodies of a service share a tag, on
# every replica and after every restart. It leaks nothing of another key's view: a tag in `If-None-Match` is
# only compared with the response that the caller's own key gets at that moment, after studio, scope and
# location were checked, so a guess can be confirmed only about what the caller may read anyway. `*` matches
# only a 200.
IF_NONE_MATCH: Final = b"if-none-match"
# The caller's own cache may keep the response, but has to revalidate it before each use.
CACHE_CONTROL: Final = (b"cache-control", b"private, no-cache")

Headers = Iterable[tuple[bytes, bytes]]

_seed = 0


def seed_tags(secret: str) -> None:
    """XXH3 is quick on any processor, but whoever knows its seed could make two bodies with the same tag."""
    global _seed
    _seed = int.from_bytes(hashlib.blake2b(secret.encode(), digest_size=8, person=b"entity tags").digest())


def entity_tag(body: bytes) -> bytes:
    return tag_from(xxh3_128_hexdigest(body, _seed))


def tag_from(digest: str) -> bytes:
    return b'"%b"' % digest.encode()


def matches(tag: bytes, headers: Headers) -> bool:
    """Whether an `If-None-Match` of the request names the tag. A list may come in several header lines.

    The comparison is the weak one (RFC 9110 13.1.2): a proxy that compresses turns the tag into a weak one.
    """
    values = [value for name, value in headers if name == IF_NONE_MATCH]
    return any(_names(tag, part.strip()) for value in values for part in value.split(b","))


def _names(tag: bytes, part: bytes) -> bool:
    return part == b"*" or part.removeprefix(b"W/") == tag


def with_entity_tag(response: Response, headers: Headers) -> Response:
    """A 200 to a GET with its tag, or 304 if the request's `headers` name it."""
    tag = entity_tag(response.body)
    more = (*response.headers, (b"etag", tag), CACHE_CONTROL)
    if matches(tag, headers):
        return Response(b"", 304, more, response.content_type)
    return Response(response.body, response.status, more, response.content_type)
