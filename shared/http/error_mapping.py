"""Turns exceptions into HTTP responses. No other module does, neither in the gateway nor in a service."""

from typing import Any

import asyncpg
import structlog
from msgspec import Struct

from shared import errors
from shared.db.unavailable import is_unavailable
from shared.errors import DomainError, Problem
from shared.http.response import Response
from shared.wire import encode

log = structlog.get_logger("errors")

# The first matching class wins.
STATUSES: tuple[tuple[type[DomainError], int, str], ...] = (
    (errors.Unauthenticated, 401, "authentication_error"),
    (errors.Forbidden, 403, "permission_error"),
    (errors.NotFound, 404, "not_found"),
    (errors.MethodNotAllowed, 405, "validation_error"),
    (errors.Conflict, 409, "conflict"),
    (errors.Gone, 410, "not_found"),
    (errors.BodyTooLarge, 413, "validation_error"),
    (errors.UnsupportedMediaType, 415, "validation_error"),
    (errors.Invalid, 422, "validation_error"),
    (errors.BadRequest, 400, "validation_error"),
    (errors.RateLimited, 429, "rate_limit_error"),
    (errors.Unavailable, 503, "api_error"),
    (errors.UpstreamTimeout, 504, "api_error"),
)


class ErrorInfo(Struct, kw_only=True):
    type: str
    code: str
    message: str
    param: str | None
    details: dict[str, Any]
    request_id: str


class ErrorBody(Struct):
    error: ErrorInfo


class ValidationErrorBody(Struct):
    detail: tuple[Problem, ...]
    error: ErrorInfo


def status_of(kind: type[DomainError]) -> tuple[int, str]:
    for known, status, type_ in STATUSES:
        if issubclass(kind, known):
            return status, type_
    return 500, "api_error"


def response_for(problem: BaseException, request_id: str) -> Response:
    """Never exposes a stack trace or SQL: unexpected errors are logged and answered as a plain 500."""
    if not isinstance(problem, DomainError):
        problem = _as_domain_error(problem)
    status, type_ = status_of(type(problem))
    info = ErrorInfo(
        type=type_,
        code=problem.code,
        message=problem.text,
        param=problem.param,
        details=problem.details,
        request_id=request_id,
    )
    body: Struct = ErrorBody(info)
    if isinstance(problem, errors.Invalid):
        body = ValidationErrorBody(problem.problems, info)
    headers = problem.headers
    if status == 401 and not headers:
        headers = (*headers, (b"www-authenticate", b'ApiKey realm="studio", header="X-Service-Key"'))
    return Response(encode(body), status, headers)


def _as_domain_error(problem: BaseException) -> DomainError:
    if isinstance(problem, asyncpg.InterfaceError) and isinstance(problem, ValueError):
        # asyncpg's own DataError: validation let a value through that the column's type cannot hold.
        log.error("value_refused_by_driver", exc_info=problem)
        return errors.Invalid([Problem(("body",), "A value cannot be stored.", "value_error")])
    if is_unavailable(problem):
        log.warning("dependency_unavailable", error=type(problem).__name__)
        return errors.Unavailable()
    if isinstance(problem, (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)):
        # Validation refuses NUL and lone surrogates; this is the second line of defence.
        return errors.Invalid(
            [Problem(("body",), "Text holds a character that cannot be stored.", "value_error")]
        )
    log.error("unexpected_error", exc_info=problem)
    return DomainError()
