"""An operation's request body, its successful response and all its errors, with their headers."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from services.bookings.errors import IdempotencyInProgress, IdempotencyKeyReused
from services.cli.openapi.examples import EXAMPLE_FIELDS, MESSAGES, example_of
from services.cli.openapi.operations import Operation
from services.cli.openapi.schemas import Schemas
from services.gateway.errors import ConsoleSessionEnded, ExpiredKey, InvalidKey, MissingKey, RevokedKey
from shared import errors
from shared.errors import DomainError, InsufficientScope, Invalid, InvalidCursor, NotFound
from shared.http.answer import CACHE_CONTROL
from shared.http.error_mapping import ErrorBody, ValidationErrorBody, status_of
from shared.http.routes import NoQuery, Route
from shared.routing import ANY_KEY
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
    "X-API-Version": _header("The API version of the response.", "string", API_VERSION),
    "RateLimit-Limit": _header("The size of the client's token bucket.", "integer", 200),
    "RateLimit-Remaining": _header("Tokens left in the bucket. A small request costs one.", "integer", 199),
    "RateLimit-Reset": _header("Seconds until the bucket is full again.", "integer", 1),
    "Retry-After": _header("Seconds to wait before trying again.", "integer", 1),
    "WWW-Authenticate": _header(
        "How to authenticate.", "string", 'ApiKey realm="studio", header="X-Service-Key"'
    ),
    "Idempotent-Replayed": _header(
        "`true` if this is the stored response to an earlier request.", "string", "true"
    ),
    "ETag": _header(
        "A strong tag of the body's bytes: it changes whenever they change. Send it as `If-None-Match`.",
        "string",
        ETAG,
    ),
    "Cache-Control": _header(
        "Only you may cache the response. Revalidate it with `If-None-Match` before each use.",
        "string",
        CACHE_CONTROL[1].decode(),
    ),
}
COMMON_HEADERS = ("X-Request-Id", "X-API-Version")
RATE_LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
CONDITIONAL_HEADERS = ("ETag", "Cache-Control")


def is_conditional(route: Route[Any]) -> bool:
    """Only partners get an `ETag`."""
    return route.method == "GET" and route.tagged


def headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


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
    504: "There was no response in time, so the outcome is unknown. Retry with the same Idempotency-Key.",
}
EXTRA_HEADERS = {429: ("Retry-After",), 503: ("Retry-After",), 401: ("WWW-Authenticate",)}

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
    retryable = status == 409 and any(kind.code == "idempotency_in_progress" for kind in kinds)
    extra = ("Retry-After",) if retryable else EXTRA_HEADERS.get(status, ())
    return described_errors(DESCRIPTIONS[status], kinds, problem, (*COMMON_HEADERS, *limits, *extra))


def described_errors(
    description: str, kinds: Sequence[type[DomainError]], problem: Json, header_names: Sequence[str]
) -> Json:
    """The response for errors of one status. `problem` is the example of what a 422 would list."""
    is_list = any(issubclass(kind, errors.Invalid) for kind in kinds)
    return {
        "description": description,
        "headers": headers(*header_names),
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{'ValidationError' if is_list else 'Error'}"},
                "examples": {kind.code: {"value": error_example(kind, problem)} for kind in kinds},
            }
        },
        "x-error-codes": [kind.code for kind in kinds],
    }


def errors_by_status(kinds: Iterable[type[DomainError]]) -> dict[int, list[type[DomainError]]]:
    """In the order of the statuses, each code once."""
    found: dict[int, dict[str, type[DomainError]]] = {}
    for kind in kinds:
        found.setdefault(status_of(kind)[0], {}).setdefault(kind.code, kind)
    return {status: list(found[status].values()) for status in sorted(found)}


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


NOT_MODIFIED: Json = {
    "description": "The response is the one that `If-None-Match` names. There is no body.",
    "headers": headers(*COMMON_HEADERS, *RATE_LIMIT_HEADERS, *CONDITIONAL_HEADERS),
}


def request_body(route: Route[Any], schemas: Schemas) -> Json:
    return {"required": not route.optional_body, "content": _json(route.body, schemas)}


def responses(operation: Operation, schemas: Schemas) -> Json:
    route = operation.route
    conditional = is_conditional(route)
    own_headers = CONDITIONAL_HEADERS if conditional else ("Idempotent-Replayed",) if route.idempotent else ()
    good: Json = {
        "description": HTTPStatus(route.status).phrase + ".",
        "headers": headers(*COMMON_HEADERS, *RATE_LIMIT_HEADERS, *own_headers),
    }
    if route.answer is not None and route.status != HTTPStatus.NO_CONTENT:
        good["content"] = _json(route.answer, schemas)
    problem = _likely_problem(operation, schemas)
    bad = {
        str(status): error_response(status, kinds, problem)
        for status, kinds in errors_by_status(_errors(operation)).items()
    }
    unchanged = {"304": {"$ref": "#/components/responses/NotModified"}} if conditional else {}
    return {str(route.status): good, **unchanged, **bad}


def _errors(operation: Operation) -> list[type[DomainError]]:
    route = operation.route
    kinds: list[type[DomainError]] = [*COMMON_ERRORS]
    if operation.scope != ANY_KEY:
        kinds.append(InsufficientScope)
    if "{" in route.path:
        kinds.append(NotFound)
    if "{" in route.path or route.query is not NoQuery or route.body is not None or route.idempotent:
        kinds.append(Invalid)
    if route.body is not None:
        kinds += BODY_ERRORS
    if "cursor" in route.query.__struct_fields__:
        kinds.append(InvalidCursor)
    kinds += route.errors
    if route.idempotent:
        kinds += [IdempotencyKeyReused, IdempotencyInProgress]
    return kinds


def _likely_problem(operation: Operation, schemas: Schemas) -> Json:
    """The most likely problem in a 422 of this operation."""
    route = operation.route
    if route.body is not None:
        required = schemas.resolved(route.body).get("required")
        if not required:
            return _problem("body", "emial", "There is no such field.", "extra_forbidden")
        return _problem("body", required[0], "This field is required.", "missing")
    if route.idempotent:
        message = "Send an Idempotency-Key of 8 to 120 characters."
        return _problem("header", "idempotency-key", message, "missing")
    if "limit" in route.query.__struct_fields__:
        return LIMIT_PROBLEM
    place = route.path.rsplit("{", 1)[-1].split("}")[0]
    return _problem("path", place, "An id is a UUID.", "uuid_parsing")


def _problem(where: str, name: str, message: str, kind: str) -> Json:
    return {"loc": [where, name], "msg": message, "type": kind}


def _json(kind: Any, schemas: Schemas) -> Json:
    content: Json = {"schema": schemas.of(kind)}
    example = example_of(kind)
    if example is not None:
        content["example"] = example
    return {"application/json": content}
