"""An operation's successful response and all its errors, with their headers."""

from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any

from msgspec import Struct

from services.cli.openapi.examples import ERRORS, REQUEST_ID, example_of
from services.cli.openapi.operations import Operation
from services.cli.openapi.schemas import Schemas
from shared import errors
from shared.errors import DomainError, IdempotencyInProgress, IdempotencyKeyReused, Invalid
from shared.http.error_mapping import ErrorBody, ValidationErrorBody, status_of
from shared.http.response import CACHE_CONTROL
from shared.http.routes import NoQuery, Route
from shared.wire import API_VERSION

Json = dict[str, Any]
NDJSON = "application/x-ndjson"
ETAG = '"e60b8de5d57a0b2bf1db6dc04ec3d4b2"'


def _header(description: str, kind: str, example: object) -> Json:
    return {"description": description, "schema": {"type": kind}, "example": example}


HEADERS: Json = {
    "X-Request-Id": _header(
        "Your own request id if you sent a valid one, otherwise a new one. Quote it to support.",
        "string",
        REQUEST_ID,
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


def headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


ERROR_TYPES = (ErrorBody, ValidationErrorBody)
LIMIT_PROBLEM: Json = {"loc": ["query", "limit"], "msg": "Expected `int` <= 200", "type": "too_large"}
EXTRA_HEADERS = {429: ("Retry-After",), 503: ("Retry-After",), 401: ("WWW-Authenticate",)}
NOT_MODIFIED: Json = {
    "description": "The response is the one that `If-None-Match` names. There is no body.",
    "headers": headers(*COMMON_HEADERS, *RATE_LIMIT_HEADERS, *CONDITIONAL_HEADERS),
}


class Responses(Struct, frozen=True, kw_only=True):
    """What the responses of one document have in common."""

    # Of every operation.
    errors: tuple[type[DomainError], ...]
    # The text of each status.
    texts: dict[str, str]
    # Under which name the response for these errors is shared, if it is.
    shared_name: Callable[[Sequence[type[DomainError]]], str | None]
    # Partners have a rate limit, conditional requests and an example that fits the operation in each 422.
    for_partners: bool

    def is_conditional(self, route: Route[Any]) -> bool:
        return self.for_partners and route.method == "GET" and route.tagged

    def of(self, operation: Operation, schemas: Schemas, shared: Json) -> Json:
        """By status. What is the same in several operations is added to `shared` and referred to."""
        route = operation.route
        conditional = self.is_conditional(route)
        repeatable = self.for_partners and route.repeatable
        more = CONDITIONAL_HEADERS if conditional else ("Idempotent-Replayed",) if repeatable else ()
        good: Json = {
            "description": HTTPStatus(route.status).phrase + ".",
            "headers": headers(*COMMON_HEADERS, *self._limits(), *more),
        }
        if route.response is not None and route.status != HTTPStatus.NO_CONTENT:
            good["content"] = content(route.response, schemas)
        found = {str(route.status): good}
        if conditional:
            shared["NotModified"] = NOT_MODIFIED
            found["304"] = {"$ref": "#/components/responses/NotModified"}
        problem = _likely_problem(route, schemas) if self.for_partners else LIMIT_PROBLEM
        for status, kinds in _by_status([*self.errors, *_errors(operation, repeatable=repeatable)]).items():
            described = self._errors(status, kinds, problem)
            name = self.shared_name(kinds)
            if name is not None and (status != 422 or problem == LIMIT_PROBLEM):
                shared[name] = described
                described = {"$ref": f"#/components/responses/{name}"}
            found[str(status)] = described
        return found

    def _limits(self) -> tuple[str, ...]:
        return RATE_LIMIT_HEADERS if self.for_partners else ()

    def _errors(self, status: int, kinds: Sequence[type[DomainError]], problem: Json) -> Json:
        """The response for errors of one status. `problem` is the example of what a 422 would list."""
        names = [*COMMON_HEADERS]
        if self.for_partners:
            names += () if status == 401 else RATE_LIMIT_HEADERS
            names += ("Retry-After",) if IdempotencyInProgress in kinds else EXTRA_HEADERS.get(status, ())
        is_list = any(issubclass(kind, Invalid) for kind in kinds)
        return {
            "description": self.texts[str(status)],
            "headers": headers(*names),
            "content": {
                "application/json": {
                    "schema": {"$ref": f"#/components/schemas/{'ValidationError' if is_list else 'Error'}"},
                    "examples": {kind.code: {"value": _error_example(kind, problem)} for kind in kinds},
                }
            },
            "x-error-codes": [kind.code for kind in kinds],
        }


def _errors(operation: Operation, *, repeatable: bool) -> list[type[DomainError]]:
    route = operation.route
    has_id = "{" in route.path
    kinds: list[type[DomainError]] = [*operation.access_errors]
    if has_id:
        kinds.append(errors.NotFound)
    if has_id or route.query is not NoQuery or route.body is not None or repeatable:
        kinds.append(Invalid)
    if route.body is not None:
        kinds += [errors.BodyTooLarge, errors.UnsupportedMediaType]
    if "cursor" in route.query.__struct_fields__:
        kinds.append(errors.InvalidCursor)
    kinds += route.errors
    if repeatable:
        kinds += [IdempotencyKeyReused, IdempotencyInProgress]
    return kinds


def _by_status(kinds: Iterable[type[DomainError]]) -> dict[int, list[type[DomainError]]]:
    """In the order of the statuses, each code once."""
    found: dict[int, dict[str, type[DomainError]]] = {}
    for kind in kinds:
        found.setdefault(status_of(kind)[0], {}).setdefault(kind.code, kind)
    return {status: list(found[status].values()) for status in sorted(found)}


def _error_example(kind: type[DomainError], problem: Json) -> Json:
    written = ERRORS.get(kind.code, {})
    info = {
        "type": status_of(kind)[1],
        "code": kind.code,
        "message": written.get("message", kind.message),
        "param": written.get("param"),
        "details": written.get("details", {}),
        "request_id": REQUEST_ID,
    }
    if issubclass(kind, Invalid):
        where = ".".join(problem["loc"])
        return {"detail": [problem], "error": {**info, "message": f"{where}: {problem['msg']}"}}
    return {"error": info}


def _likely_problem(route: Route[Any], schemas: Schemas) -> Json:
    """The most likely problem in a 422 of this operation."""
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


def content(kind: Any, schemas: Schemas) -> Json:
    """Of a request or a response. A text is NDJSON."""
    described: Json = {"schema": schemas.of(kind)}
    if (example := example_of(kind)) is not None:
        described["example"] = example
    return {NDJSON if kind is str else "application/json": described}
