"""The operators' API as an OpenAPI document of its own."""

from collections.abc import Sequence
from typing import Any

from services.cli.openapi.build import Reference
from services.cli.openapi.code_samples import Api, Credential
from services.cli.openapi.descriptions import OPERATOR_TEXTS, PARTNER_TEXTS
from services.cli.openapi.operations import operator_operations
from services.cli.openapi.responses import ERROR_TYPES, Responses
from services.cli.openapi.schemas import Schemas
from services.gateway.errors import BadOperatorToken
from shared import errors
from shared.errors import DomainError
from shared.routing import OPERATOR_PREFIX
from shared.wire import API_VERSION

ORIGIN = "http://127.0.0.1:8081"
DESCRIPTION = """\
For those who run the system and for a studio's desk. It has its own port, on loopback unless set otherwise,
and its own token. `studioctl` is a client of it.

- **Token.** Send `Authorization: Bearer …`: the operator token, or a staff token (`stf_…`), which belongs to
  one studio and has the role `staff` or `manager`. A refused token is 401; guesses are limited per address.
  The samples read the token from the environment variable `STUDIO_OPERATOR_TOKEN`.
- **Roles.** Each operation names the lowest role that may call it. An operator may do everything, a manager
  everything that staff may.
- **Studios** are named in the path by slug or id. What belongs to another studio gets a 404.
- **Lists and errors** have the same form as in the partner API.
"""
GROUPS = {
    "Studios": "Studios, and the keys and clients of their partners.",
    "Staff tokens": "Tokens of a studio's staff.",
    "Import": "Importing and exporting a studio's data.",
    "System": "The state of the services, the queues, and what a restore needs.",
    "People": "Erasing a person's data.",
    "Schedule": "Classes of a studio.",
    "Bookings": "Rosters, check-in and cancellations.",
    "Waitlist": "Members who are waiting for a seat.",
    "Members": "Members and memberships.",
    "Purchases": "What members bought.",
    "Staff": "What a desk changes.",
    "Forms": "Forms of a studio.",
    "Form submissions": "Answers to forms, and their review.",
    "Leads": "Leads with phone and notes.",
    "Webhooks": "Endpoints, deliveries and events of a studio.",
}


def _shared_name(kinds: Sequence[type[DomainError]]) -> str | None:
    """A status with one code is the same in every operation, so it is described once."""
    return "".join(word.capitalize() for word in kinds[0].code.split("_")) if len(kinds) == 1 else None


RESPONSES = Responses(
    errors=(
        errors.UnsupportedApiVersion,
        BadOperatorToken,
        errors.RateLimited,
        DomainError,
        errors.Unavailable,
        errors.UpstreamTimeout,
    ),
    texts={
        400: "The cursor is unknown, or the requested version is not supported.",
        401: "The token is missing or unknown.",
        403: "The token's role is too low.",
        404: "The resource does not exist or belongs to another studio.",
        409: "The current state does not allow the operation; `code` says why.",
        413: "The body is too large.",
        415: "The body is not JSON.",
        422: "The request is not valid; `detail` lists each problem and its location.",
        429: "Too many refused tokens from this address.",
        500: "Something went wrong on our side.",
        503: "A service is unreachable; nothing was done there.",
        504: "A service did not answer in time: the outcome is unknown.",
    },
    shared_name=_shared_name,
    for_partners=False,
)
OPERATORS = Reference(
    head={
        "info": {
            "title": "Studio operators' API",
            "version": API_VERSION,
            "summary": "Studios, keys, imports, a desk's work and the state of the system.",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        }
    },
    prefix=OPERATOR_PREFIX,
    security_schemes={
        "Token": {"type": "http", "scheme": "bearer", "description": "The operator token or a staff token."}
    },
    groups=GROUPS,
    texts=PARTNER_TEXTS | OPERATOR_TEXTS,
    responses=RESPONSES,
    response_order=str,
    api=Api(
        f"{ORIGIN}{OPERATOR_PREFIX}", Credential("Authorization", "STUDIO_OPERATOR_TOKEN", prefix="Bearer ")
    ),
)


def operator_document() -> dict[str, Any]:
    known = operator_operations()
    schemas = Schemas([*(kind for operation in known for kind in operation.types), *ERROR_TYPES])
    return OPERATORS.build(known, schemas, {})
