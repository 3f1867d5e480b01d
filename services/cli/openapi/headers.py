"""Response headers."""

from typing import Any

from shared.http.conditional import CACHE_CONTROL
from shared.wire import API_VERSION

Json = dict[str, Any]
ETAG = '"e60b8de5d57a0b2bf1db6dc04ec3d4b2"'


def _header(description: str, kind: str, example: object) -> Json:
    return {"description": description, "schema": {"type": kind}, "example": example}


HEADERS: Json = {
    "X-Request-Id": _header(
        "Your own request id if you sent a valid one, otherwise a new one. Quote it to support.",
        "string",
        "5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55",
    ),
    "X-API-Version": _header("The API version of the answer.", "string", API_VERSION),
    "RateLimit-Limit": _header("The size of the client's token bucket.", "integer", 200),
    "RateLimit-Remaining": _header("Tokens left in the bucket. A small request costs one.", "integer", 199),
    "RateLimit-Reset": _header("Seconds until the bucket is full again.", "integer", 1),
    "Retry-After": _header("Seconds to wait before trying again.", "integer", 1),
    "WWW-Authenticate": _header(
        "How to authenticate.", "string", 'ApiKey realm="studio", header="X-Service-Key"'
    ),
    "Idempotent-Replayed": _header(
        "`true` if this is the stored answer of an earlier request.", "string", "true"
    ),
    "ETag": _header(
        "A strong tag of the body's bytes: it changes whenever they change. Send it as `If-None-Match`.",
        "string",
        ETAG,
    ),
    "Cache-Control": _header(
        "Only you may cache the answer. Revalidate it with `If-None-Match` before each use.",
        "string",
        CACHE_CONTROL[1].decode(),
    ),
}
COMMON_HEADERS = ("X-Request-Id", "X-API-Version")
RATE_LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
CONDITIONAL_HEADERS = ("ETag", "Cache-Control")


def headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
