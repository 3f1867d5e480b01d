"""Both documents as a whole. Their texts are in partners.toml and operators.toml."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from services.cli.openapi.build import Reference
from services.cli.openapi.code_samples import Api
from services.cli.openapi.events import event_types, webhooks
from services.cli.openapi.operations import operations, operator_operations
from services.cli.openapi.responses import ERROR_TYPES, Responses
from services.cli.openapi.schemas import OPERATOR_TEXTS, OPERATORS, PARTNER_TEXTS, PARTNERS, Schemas
from services.gateway.errors import (
    BadOperatorToken,
    ConsoleSessionEnded,
    ExpiredKey,
    InvalidKey,
    MissingKey,
    RevokedKey,
)
from services.gateway.rules.rate_limit import BYTES_PER_TOKEN, LARGE_BODY, FailedKeyLimits
from shared import errors
from shared.errors import DomainError
from shared.http.body_problems import EARLIEST, LATEST
from shared.phones import PHONE_RULE
from shared.routing import OPERATOR_PREFIX, PREFIX

ORIGIN = "http://127.0.0.1:8080"
OPERATOR_ORIGIN = "http://127.0.0.1:8081"
# By where they are defined: module and name.
LIMITS = {
    place: text.format(large_body=f"{LARGE_BODY // 1024} KiB") for place, text in PARTNERS["limits"].items()
}
LIMITS_IN_WORDS = f"""\
- An instant in a body lies in the years {EARLIEST.year} to {LATEST.year - 1} (`datetime_out_of_range`).
- No text holds NUL (U+0000), neither as a value nor as a name in free JSON such as `metadata`.
- A number lies in the range of a 64-bit float (`number_out_of_range`).
- A request costs one token of the client's bucket, and one more for each whole {BYTES_PER_TOKEN // 1024} KiB
  of its body, but never more than the bucket holds.
- An address may send {FailedKeyLimits.BURST} refused keys at once and {FailedKeyLimits.RATE:.0f} more each
  second (429 `rate_limited`). Valid keys are not delayed, and a missing key does not count.
"""


def _limits() -> dict[str, int | float]:
    """Their values, by text."""
    places = [(text, *place.rsplit(".", 1)) for place, text in LIMITS.items()]
    return {text: getattr(import_module(module), name) for text, module, name in places}


def _limits_table(limits: dict[str, int | float]) -> str:
    rows = "\n".join(f"| {value:,.0f} | {text} |" for text, value in limits.items())
    head = (
        "## Limits\n\n"
        "In addition to the limits in the schemas. Each is a maximum unless the text says otherwise.\n\n"
        "| | |\n|---|---|\n"
    )
    return f"{head}{rows}\n\n{LIMITS_IN_WORDS}"


_SHARED: dict[str, tuple[type[DomainError], ...]] = {
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
_EVERYWHERE = (errors.RateLimited, DomainError, errors.Unavailable, errors.UpstreamTimeout)


def document() -> dict[str, Any]:
    limits = _limits()
    overview = PARTNERS["document"]["overview"]
    reference = Reference(
        tables=PARTNERS,
        description=f"{overview}\n## Phone numbers\n\n{PHONE_RULE}\n\n{_limits_table(limits)}",
        more_head={"x-limits": limits},
        prefix=PREFIX,
        security_schemes={
            "ServiceKey": {
                "type": "apiKey",
                "in": "header",
                "name": "X-Service-Key",
                "description": "Only from a server. A key is bound to one studio and a set of scopes.",
            }
        },
        texts=PARTNER_TEXTS,
        responses=Responses(
            errors=(errors.UnsupportedApiVersion, *_SHARED["Unauthenticated"], *_EVERYWHERE),
            texts=PARTNERS["statuses"],
            shared_name=lambda kinds: _NAMES.get(tuple(kind.code for kind in kinds)),
            for_partners=True,
        ),
        response_order=["NotModified", *_SHARED].index,
        api=Api(f"{ORIGIN}{PREFIX}", "X-Service-Key", "STUDIO_KEY", has_clients=True),
    )
    known = operations()
    types = [kind for operation in known for kind in operation.types]
    schemas = Schemas([*types, *ERROR_TYPES, *event_types()])
    return reference.build(known, schemas, {"webhooks": webhooks(schemas)})


def _shared_name(kinds: Sequence[type[DomainError]]) -> str | None:
    """A status with one code is the same in every operation, so it is described once."""
    return "".join(word.capitalize() for word in kinds[0].code.split("_")) if len(kinds) == 1 else None


def operator_document() -> dict[str, Any]:
    token = {"type": "http", "scheme": "bearer", "description": "The operator token or a staff token."}
    url = f"{OPERATOR_ORIGIN}{OPERATOR_PREFIX}"
    reference = Reference(
        tables=OPERATORS,
        description=OPERATORS["document"]["overview"],
        more_head={},
        prefix=OPERATOR_PREFIX,
        security_schemes={"Token": token},
        texts=PARTNER_TEXTS | OPERATOR_TEXTS,
        responses=Responses(
            errors=(errors.UnsupportedApiVersion, BadOperatorToken, *_EVERYWHERE),
            texts=OPERATORS["statuses"],
            shared_name=_shared_name,
            for_partners=False,
        ),
        response_order=str,
        api=Api(url, "Authorization", "STUDIO_OPERATOR_TOKEN", prefix="Bearer "),
    )
    known = operator_operations()
    schemas = Schemas([*(kind for operation in known for kind in operation.types), *ERROR_TYPES])
    return reference.build(known, schemas, {})
