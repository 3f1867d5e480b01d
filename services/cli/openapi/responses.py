"""An operation's request body, its successful response and all its errors."""

from http import HTTPStatus
from typing import Any

from services.bookings.errors import IdempotencyInProgress, IdempotencyKeyReused
from services.cli.openapi.error_responses import BODY_ERRORS, COMMON_ERRORS, LIMIT_PROBLEM, error_response
from services.cli.openapi.examples import example_of
from services.cli.openapi.headers import COMMON_HEADERS, CONDITIONAL_HEADERS, RATE_LIMIT_HEADERS, headers
from services.cli.openapi.operations import Operation
from services.cli.openapi.parameters import is_conditional
from services.cli.openapi.schemas import Schemas
from shared.errors import DomainError, InsufficientScope, Invalid, InvalidCursor, NotFound
from shared.http.error_mapping import status_of
from shared.http.routes import NoQuery, Route
from shared.routing import ANY_KEY

Json = dict[str, Any]
NOT_MODIFIED: Json = {
    "description": "The answer is the one that `If-None-Match` names. There is no body.",
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
    by_status: dict[int, list[type[DomainError]]] = {}
    for kind in _errors(operation):
        kinds = by_status.setdefault(status_of(kind)[0], [])
        if kind.code not in [known.code for known in kinds]:
            kinds.append(kind)
    problem = _likely_problem(operation, schemas)
    bad = {str(status): error_response(status, by_status[status], problem) for status in sorted(by_status)}
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
