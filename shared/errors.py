"""The domain errors that all services share. Only `shared/http/error_mapping.py` knows statuses."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct


class DomainError(Exception):
    """An expected error, with a code for programs and a sentence for people."""

    code: ClassVar[str] = "internal_error"
    message: ClassVar[str] = "Something went wrong on our side."

    def __init__(
        self,
        message: str | None = None,
        *,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        self.text = message or self.message
        self.param = param
        self.details = dict(details or {})
        self.headers = tuple(headers)
        super().__init__(self.text)


class Unauthenticated(DomainError):
    code = "invalid_api_key"
    message = "The API key is not valid."


class Forbidden(DomainError):
    code = "forbidden"


class InsufficientScope(Forbidden):
    code = "insufficient_scope"

    def __init__(self, required: str, granted: Sequence[str] | frozenset[str]) -> None:
        super().__init__(
            f"This request requires the scope {required}, which the key does not have.",
            details={"required_scope": required, "granted_scopes": sorted(granted)},
        )


class NotFound(DomainError):
    """Unknown, of another studio, or in a location that the key may not see, always with the same answer."""

    code = "not_found"
    message = "There is no such resource."


class Conflict(DomainError):
    code = "conflict"


class IdempotencyKeyReused(Conflict):
    code = "idempotency_key_reused"
    message = "The Idempotency-Key was already used with different parameters."


class IdempotencyInProgress(Conflict):
    code = "idempotency_in_progress"
    message = "A request with this Idempotency-Key is still in progress; retry with the same key."

    def __init__(self) -> None:
        super().__init__(headers=[(b"retry-after", b"1")])


class Gone(DomainError):
    code = "gone"


class BadRequest(DomainError):
    code = "bad_request"


class InvalidCursor(BadRequest):
    code = "invalid_cursor"
    message = "The cursor was not issued by this list."

    def __init__(self) -> None:
        super().__init__(param="cursor")


class UnsupportedApiVersion(BadRequest):
    code = "unsupported_api_version"

    def __init__(self, supported: Sequence[str]) -> None:
        super().__init__(
            "The version in X-API-Version is not supported.",
            param="X-API-Version",
            details={"supported": list(supported)},
        )


class MethodNotAllowed(DomainError):
    code = "method_not_allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        text = ", ".join(sorted(allowed))
        super().__init__(f"This path supports {text}.", headers=[(b"allow", text.encode())])


class BodyTooLarge(DomainError):
    code = "body_too_large"
    message = "The body is larger than 256 KiB."


class UnsupportedMediaType(DomainError):
    code = "unsupported_media_type"
    message = "Send the body as JSON, with Content-Type: application/json."


class RateLimited(DomainError):
    code = "rate_limited"
    message = "Too many requests; wait and try again."

    def __init__(self, retry_after: int) -> None:
        super().__init__(headers=[(b"retry-after", str(retry_after).encode())])


class TooManyWaits(RateLimited):
    code = "too_many_waits"
    message = "The client already waits for events as often as it may at once."


class Unavailable(DomainError):
    code = "service_unavailable"
    message = "A part of the system is unavailable; nothing was done."

    def __init__(self, message: str | None = None, *, retry_after: int = 2) -> None:
        super().__init__(message, headers=[(b"retry-after", str(retry_after).encode())])


class UpstreamTimeout(DomainError):
    code = "upstream_timeout"
    message = "There was no answer in time, so the outcome is unknown; retry with the same Idempotency-Key."


# A response lists no more than this: 40,000 unknown fields in one body are one mistake.
MAX_PROBLEMS = 100


class Problem(Struct, frozen=True):
    """One problem of a request, and its location."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class Invalid(DomainError):
    code = "validation_failed"
    message = "The request is not valid."

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems[:MAX_PROBLEMS])
        super().__init__(_sentence(problems))


def _sentence(problems: Sequence[Problem]) -> str:
    if not problems:
        return Invalid.message
    first = problems[0]
    where = ".".join(str(part) for part in first.loc)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{where}: {first.msg}{more}"
