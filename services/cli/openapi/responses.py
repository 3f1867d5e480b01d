"""Request bodies and answers of an operation: the good one and every error."""

from http import HTTPStatus
from typing import Any

from services.bookings.errors import IdempotencyInProgress, IdempotencyKeyReused
from services.cli.openapi.examples import example_of
from services.cli.openapi.failures import ALWAYS, WITH_BODY, error_response
from services.cli.openapi.headers import EVERYWHERE, LIMITS, headers
from services.cli.openapi.operations import Operation
from services.cli.openapi.schemas import Schemas
from services.gateway.routing import ANY_KEY
from shared.errors import DomainError, InsufficientScope, Invalid, NotFound
from shared.http_errors import status_of
from shared.routes import NoQuery

Json = dict[str, Any]


def request_body(kind: Any, schemas: Schemas) -> Json:
    return {"required": True, "content": _json(kind, schemas)}


def responses(operation: Operation, schemas: Schemas) -> Json:
    route = operation.route
    good: Json = {
        "description": HTTPStatus(route.status).phrase + ".",
        "headers": headers(*EVERYWHERE, *LIMITS, *(["Idempotent-Replayed"] if route.idempotent else [])),
    }
    if route.answer is not None and route.status != HTTPStatus.NO_CONTENT:
        good["content"] = _json(route.answer, schemas)
    by_status: dict[int, list[type[DomainError]]] = {}
    for kind in _failures(operation):
        kinds = by_status.setdefault(status_of(kind)[0], [])
        if kind.code not in [known.code for known in kinds]:
            kinds.append(kind)
    bad = {str(status): error_response(status, by_status[status]) for status in sorted(by_status)}
    return {str(route.status): good, **bad}


def _failures(operation: Operation) -> list[type[DomainError]]:
    route = operation.route
    kinds: list[type[DomainError]] = [*ALWAYS]
    if operation.scope != ANY_KEY:
        kinds.append(InsufficientScope)
    if "{" in route.path:
        kinds.append(NotFound)
    if "{" in route.path or route.query is not NoQuery or route.body is not None or route.idempotent:
        kinds.append(Invalid)
    if route.body is not None:
        kinds += WITH_BODY
    kinds += route.errors
    if route.idempotent:
        kinds += [IdempotencyKeyReused, IdempotencyInProgress]
    return kinds


def _json(kind: Any, schemas: Schemas) -> Json:
    content: Json = {"schema": schemas.of(kind)}
    example = example_of(kind)
    if example is not None:
        content["example"] = example
    return {"application/json": content}
