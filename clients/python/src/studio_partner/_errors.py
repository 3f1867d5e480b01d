"""The exceptions that are of no code. `errors` has one class for each code of the API."""

from collections.abc import Mapping
from typing import Any, Literal


class StudioPartnerError(Exception):
    """Everything that this package raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """With its attributes, so that a pool of processes or a queue of tasks can hand it on."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[Exception], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


class ApiError(StudioPartnerError):
    """The API refused. There is a subclass for each `code` that this version knows; other codes are of this class.

    `problems` lists what is wrong with a request that is not valid. Where the outcome of a write is unknown,
    repeat it with this `idempotency_key`: it has its effect once.
    """

    def __init__(
        self,
        status: int,
        code: str,
        type: str,
        message: str,
        param: str | None,
        details: Mapping[str, Any],
        request_id: str | None,
        *,
        problems: tuple[Mapping[str, Any], ...] = (),
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}" + (f" (request {request_id})" if request_id else ""))
        self.status = status
        self.code = code
        self.type = type
        self.message = message
        self.param = param
        self.details = details
        self.request_id = request_id
        self.problems = problems
        self.idempotency_key = idempotency_key


class ConnectionFailed(StudioPartnerError):
    """No response came, in all attempts. For a write the outcome is unknown: repeat it with this `idempotency_key`."""

    def __init__(self, message: str, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class SecretLost(StudioPartnerError):
    """The write was done, but the response that showed its secret was lost on the way, and a secret is shown once.

    `resource` is what was made, without the secret. Rotate an endpoint's secret; create a new console session.
    """

    def __init__(self, resource: Any) -> None:
        super().__init__(
            "The response that showed the secret was lost; a repeated one does not show it again."
        )
        self.resource = resource


class ResyncNeeded(StudioPartnerError):
    """Events are missing between where you are and what there is: list everything again, then follow.

    `expired`: they are not kept any more. `jump`: the studio was restored from a backup.
    """

    def __init__(self, oldest_sequence: int, reason: Literal["expired", "jump"]) -> None:
        super().__init__(f"Events are missing ({reason}): list everything again, then follow.")
        self.oldest_sequence = oldest_sequence
        self.reason = reason


class WebhookVerificationError(StudioPartnerError):
    """Not a webhook of this studio: answer 400 and do nothing."""
