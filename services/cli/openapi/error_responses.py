"""Error responses: codes, one example each, and those that most operations share."""

from collections.abc import Sequence
from typing import Any

from services.cli.openapi.error_examples import EXAMPLE_FIELDS, MESSAGES
from services.cli.openapi.headers import COMMON_HEADERS, RATE_LIMIT_HEADERS, headers
from services.gateway.errors import ConsoleSessionEnded, ExpiredKey, InvalidKey, MissingKey, RevokedKey
from shared import errors
from shared.errors import DomainError
from shared.http.error_mapping import ErrorBody, ValidationErrorBody, status_of

Json = dict[str, Any]

ERROR_TYPES = (ErrorBody, ValidationErrorBody)
LIMIT_PROBLEM: Json = {"loc": ["query", "limit"], "msg": "Expected `int` <= 200", "type": "too_large"}
REQUEST_ID = "5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55"

COMMON_ERRORS: tuple[type[DomainError], ...] = (
    errors.UnsupportedApiVersion,
    MissingKey,
    InvalidKey,
    ExpiredKey,
    RevokedKey,
    ConsoleSessionEnded,
    errors.RateLimited,
    DomainError,
    errors.Unavailable,
    errors.UpstreamTimeout,
)
BODY_ERRORS: tuple[type[DomainError], ...] = (errors.BodyTooLarge, errors.UnsupportedMediaType)

DESCRIPTIONS = {
    400: "The cursor is not valid, or the requested version is not supported.",
    401: "The key is missing, unknown, expired or revoked, or the console session has ended.",
    403: "The key lacks the required scope, or a console session may not do this.",
    404: "There is no such resource in the studio, or it is in a location that the key may not see.",
    409: "The current state does not allow the operation; `code` says why.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request is not valid; `detail` lists each problem and its location.",
    429: "Too many requests from this client.",
    500: "Something went wrong on our side.",
    503: "A part of the system is unavailable; nothing was done.",
    504: "There was no answer in time, so the outcome is unknown. Retry with the same Idempotency-Key.",
}
EXTRA_HEADERS = {409: (), 429: ("Retry-After",), 503: ("Retry-After",), 401: ("WWW-Authenticate",)}

_SHARED: dict[str, Sequence[type[DomainError]]] = {
    "UnsupportedVersion": (errors.UnsupportedApiVersion,),
    "BadListRequest": (errors.UnsupportedApiVersion, errors.InvalidCursor),
    "Unauthenticated": (MissingKey, InvalidKey, ExpiredKey, RevokedKey, ConsoleSessionEnded),
    "InsufficientScope": (errors.InsufficientScope,),
    "NotFound": (errors.NotFound,),
    "BodyTooLarge": (errors.BodyTooLarge,),
    "UnsupportedMediaType": (errors.UnsupportedMediaType,),
    "ValidationFailed": (errors.Invalid,),
    "RateLimited": (errors.RateLimited,),
    "InternalError": (DomainError,),
    "Unavailable": (errors.Unavailable,),
    "UpstreamTimeout": (errors.UpstreamTimeout,),
}
_NAMES = {tuple(kind.code for kind in kinds): name for name, kinds in _SHARED.items()}


def error_response(status: int, kinds: Sequence[type[DomainError]], problem: Json) -> Json:
    """`problem` is the example of what a 422 would list."""
    name = _NAMES.get(tuple(kind.code for kind in kinds))
    if name is None or (status == 422 and problem != LIMIT_PROBLEM):
        return _response(status, kinds, problem)
    return {"$ref": f"#/components/responses/{name}"}


def shared_responses() -> Json:
    return {name: _response(status_of(kinds[0])[0], kinds) for name, kinds in _SHARED.items()}


def _response(status: int, kinds: Sequence[type[DomainError]], problem: Json = LIMIT_PROBLEM) -> Json:
    limits = () if status == 401 else RATE_LIMIT_HEADERS
    schema = "ValidationError" if status == 422 else "Error"
    retryable = status == 409 and any(kind.code == "idempotency_in_progress" for kind in kinds)
    return {
        "description": DESCRIPTIONS[status],
        "headers": headers(
            *COMMON_HEADERS, *limits, *EXTRA_HEADERS.get(status, ()), *(["Retry-After"] if retryable else [])
        ),
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{schema}"},
                "examples": {kind.code: {"value": error_example(kind, problem)} for kind in kinds},
            }
        },
        "x-error-codes": [kind.code for kind in kinds],
    }


def error_example(kind: type[DomainError], problem: Json) -> Json:
    param, details = EXAMPLE_FIELDS.get(kind.code, (None, {}))
    info = {
        "type": status_of(kind)[1],
        "code": kind.code,
        "message": MESSAGES.get(kind.code, kind.message),
        "param": param,
        "details": details,
        "request_id": REQUEST_ID,
    }
    if issubclass(kind, errors.Invalid):
        where = ".".join(problem["loc"])
        return {"detail": [problem], "error": {**info, "message": f"{where}: {problem['msg']}"}}
    return {"error": info}
