"""Both documents as a whole: overview, limits and groups of operations."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from services.bookings.wire import bookings, classes
from services.cli.openapi.build import Reference
from services.cli.openapi.code_samples import Api
from services.cli.openapi.events import event_types, webhooks
from services.cli.openapi.operations import operations, operator_operations
from services.cli.openapi.responses import ERROR_TYPES, Responses
from services.cli.openapi.schemas import OPERATOR_TEXTS, PARTNER_TEXTS, Schemas
from services.forms.rules import answer_values, field_checks, form_definition, json_limits, lead_metadata
from services.forms.wire import forms
from services.gateway.actions import open_console
from services.gateway.errors import (
    BadOperatorToken,
    ConsoleSessionEnded,
    ExpiredKey,
    InvalidKey,
    MissingKey,
    RevokedKey,
)
from services.gateway.rules import rate_limit
from services.gateway.rules.rate_limit import BYTES_PER_TOKEN, LARGE_BODY, FailedKeyLimits
from services.webhooks.actions import manage_endpoints
from services.webhooks.rules import urls
from shared import errors, phones, wire
from shared.errors import DomainError
from shared.http import decoding, routes
from shared.http import json_limits as body_limits
from shared.http.body_problems import EARLIEST, LATEST
from shared.phones import PHONE_RULE
from shared.routing import OPERATOR_PREFIX, PREFIX
from shared.wire import API_VERSION


class Limit(Struct, frozen=True):
    """`source` is where the limit is defined: module and name."""

    source: tuple[Any, str]
    text: str

    @property
    def value(self) -> int | float:
        module, name = self.source
        number: int | float = getattr(module, name)
        return number

    @property
    def key(self) -> str:
        module, name = self.source
        return f"{module.__name__}.{name}"


LIMITS = (
    Limit((routes, "MAX_BODY"), "bytes in a body (413 `body_too_large`)"),
    Limit((routes, "BODY_TIMEOUT"), "seconds for a body to arrive"),
    Limit((body_limits, "MAX_DEPTH"), "levels of nesting in a body"),
    Limit((decoding, "MAX_PARAMETERS"), "query parameters"),
    Limit(
        (decoding, "MAX_READ_LENIENTLY"),
        "bytes in a body of which every value that cannot be decoded is named",
    ),
    Limit((errors, "MAX_PROBLEMS"), "problems listed in a 422; the message counts the rest"),
    Limit((routes, "MIN_KEY_LENGTH"), "characters at least in an Idempotency-Key, header or path"),
    Limit((routes, "MAX_KEY_LENGTH"), "characters in an Idempotency-Key, header or path"),
    Limit((wire, "MAX_EMAIL_LENGTH"), "characters in an email"),
    Limit((phones, "MAX_PHONE_LENGTH"), "characters in a phone number, of a lead, a member or an answer"),
    Limit((json_limits, "MAX_METADATA_BYTES"), "bytes in a lead's `metadata`, written as JSON"),
    Limit((json_limits, "MAX_DEPTH"), "levels of nesting in `metadata`, `fields` and `settings`"),
    Limit((lead_metadata, "MAX_FORM_CONTEXT"), "entries in `metadata.form_submissions`"),
    Limit((forms, "MAX_FIELDS"), "fields in a form"),
    Limit((field_checks, "MAX_TEXT_LENGTH"), "characters in an answer to a `text` field"),
    Limit((field_checks, "MAX_TEXTAREA_LENGTH"), "characters in an answer to a `textarea` field"),
    Limit((field_checks, "MAX_ADDRESS_LENGTH"), "characters in an answer to an `address` field"),
    Limit((field_checks, "MAX_SIGNATURE_LENGTH"), "characters in an answer to a `signature` field"),
    Limit((answer_values, "MAX_NUMBER_LENGTH"), "characters in an answer to a `number` field"),
    Limit((classes, "MAX_IDS"), "ids in the `ids` of a list of classes"),
    Limit(
        (bookings, "MAX_CLASSES_IN_RANGE"),
        "classes in the range of `starts_after` and `starts_before` when bookings are listed",
    ),
    Limit((manage_endpoints, "MAX_ENDPOINTS"), "webhook endpoints of a client (409 `too_many_endpoints`)"),
    Limit(
        (rate_limit, "MAX_LARGE_BODIES"),
        f"bodies of a client over {LARGE_BODY // 1024} KiB that a gateway replica handles at once"
        " (429 `rate_limited`)",
    ),
    Limit((open_console, "MAX_OPEN_LINKS"), "unused console links of a client (429 `rate_limited`)"),
    Limit((urls, "MAX_LENGTH"), "characters in an endpoint's `url`"),
    Limit((urls, "MAX_NAME_LENGTH"), "characters in the host name of an endpoint's `url`"),
    Limit((form_definition, "MAX_SLUG_LENGTH"), "characters in a slug that is made from a title"),
)


LIMITS_IN_WORDS = f"""\
- An instant in a body lies in the years {EARLIEST.year} to {LATEST.year - 1} (`datetime_out_of_range`).
- No text holds NUL (U+0000), neither as a value nor as a name in free JSON such as `metadata`.
- A number lies in the range of a 64-bit float (`number_out_of_range`).
- A request costs one token of the client's bucket, and one more for each whole {BYTES_PER_TOKEN // 1024} KiB
  of its body, but never more than the bucket holds.
- An address may send {FailedKeyLimits.BURST} refused keys at once and {FailedKeyLimits.RATE:.0f} more each
  second (429 `rate_limited`). Valid keys are not delayed, and a missing key does not count.
"""


def limits_table() -> str:
    rows = "\n".join(f"| {limit.value:,.0f} | {limit.text} |" for limit in LIMITS)
    head = (
        "## Limits\n\n"
        "In addition to the limits in the schemas. Each is a maximum unless the text says otherwise.\n\n"
        "| | |\n|---|---|\n"
    )
    return f"{head}{rows}\n\n{LIMITS_IN_WORDS}"


OVERVIEW = """\
The API gives partners access to a fitness studio's data over HTTP and JSON: the studio and its locations,
the schedule, products, forms, leads, members, bookings, the waitlist and purchases.

- **Keys.** Send your key in `X-Service-Key`, only from a server. A key is bound to one studio and a set of
  scopes. It may be limited to certain locations; resources elsewhere get a 404.
- **Times** are ISO 8601 with an offset or `Z`. **Ids** are UUIDs; treat them as opaque. **Amounts** are
  decimal strings.
- **Lists** return `{object: "list", data, has_more, next_cursor}`. While `has_more` is true, send
  `next_cursor` back unchanged as `cursor`.
- **Polling.** Every 200 response to a GET carries an `ETag`, except a cancellation preview, which tells the
  present instant. Send it back as `If-None-Match`: while nothing has changed, the response is 304 without a
  body. A 304 counts as a request.
- **Errors** have one shape: `{"error": {type, code, message, param, details, request_id}}`. A 422 also has
  `detail`, a list of all problems. Use `code` in programs.
- **Idempotency.** Creating and cancelling a booking require an `Idempotency-Key`. For 24 hours a repeated
  request gets the first response, byte for byte, with `Idempotent-Replayed: true`.
- **Rate limits** are token buckets per client and gateway replica: 50 tokens per second with a burst of
  200, unless agreed otherwise. A request costs one token, one with a large body more (see Limits). The
  `RateLimit-*` headers show what is left.
- **Events** are sent to your webhook endpoints, signed according to Standard Webhooks. `GET /events` lists
  those of the last 30 days.
- **Versions.** Additions are not breaking. A breaking change gets a new date, and the old version is served
  for at least 12 months with `Deprecation`, `Sunset` and `Link` headers.
"""

ORIGIN = "http://127.0.0.1:8080"
GROUPS = {
    "Key": "The API key that a request is made with.",
    "Studio": "The studio and its locations.",
    "Schedule": "Rooms, class types, instructors and classes with their availability.",
    "Classes": "Class sessions, their availability and their spots.",
    "Catalog": "Products with their prices.",
    "Members": "Member profiles and memberships.",
    "Bookings": "Book a class, cancel a booking, and preview both.",
    "Waitlist": "Members who are waiting for a seat.",
    "Purchases": "What members have bought. Read-only.",
    "Forms": "Forms, their conditional fields, and submissions.",
    "Form submissions": "Answers to a form, validated like those from the studio's own widgets.",
    "Leads": "People who may become members, one per normalized email.",
    "Webhooks": "Endpoints that receive events, and the outcome of each delivery.",
    "Events": "The event log of the last 30 days.",
}


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

RESPONSES = Responses(
    errors=(
        errors.UnsupportedApiVersion,
        *_SHARED["Unauthenticated"],
        errors.RateLimited,
        DomainError,
        errors.Unavailable,
        errors.UpstreamTimeout,
    ),
    texts={
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
    },
    shared_name=lambda kinds: _NAMES.get(tuple(kind.code for kind in kinds)),
    for_partners=True,
)
PARTNERS = Reference(
    head={
        "info": {
            "title": "Studio Partner API",
            "version": API_VERSION,
            "summary": "A studio's schedule, members, bookings and more, for its partners.",
            "description": f"{OVERVIEW}\n## Phone numbers\n\n{PHONE_RULE}\n\n{limits_table()}",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "x-limits": {limit.text: limit.value for limit in LIMITS},
    },
    prefix=PREFIX,
    security_schemes={
        "ServiceKey": {
            "type": "apiKey",
            "in": "header",
            "name": "X-Service-Key",
            "description": "Only from a server. A key is bound to one studio and a set of scopes.",
        }
    },
    groups=GROUPS,
    texts=PARTNER_TEXTS,
    responses=RESPONSES,
    response_order=["NotModified", *_SHARED].index,
    api=Api(f"{ORIGIN}{PREFIX}", "X-Service-Key", "STUDIO_KEY"),
)


def document() -> dict[str, Any]:
    known = operations()
    types = [kind for operation in known for kind in operation.types]
    schemas = Schemas([*types, *ERROR_TYPES, *event_types()])
    return PARTNERS.build(known, schemas, {"webhooks": webhooks(schemas)})


OPERATOR_ORIGIN = "http://127.0.0.1:8081"
OPERATOR_OVERVIEW = """\
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
OPERATOR_GROUPS = {
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


OPERATOR_RESPONSES = Responses(
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
            "description": OPERATOR_OVERVIEW,
            "license": {"name": "MIT", "identifier": "MIT"},
        }
    },
    prefix=OPERATOR_PREFIX,
    security_schemes={
        "Token": {"type": "http", "scheme": "bearer", "description": "The operator token or a staff token."}
    },
    groups=OPERATOR_GROUPS,
    texts=PARTNER_TEXTS | OPERATOR_TEXTS,
    responses=OPERATOR_RESPONSES,
    response_order=str,
    api=Api(
        f"{OPERATOR_ORIGIN}{OPERATOR_PREFIX}", "Authorization", "STUDIO_OPERATOR_TOKEN", prefix="Bearer "
    ),
)


def operator_document() -> dict[str, Any]:
    known = operator_operations()
    schemas = Schemas([*(kind for operation in known for kind in operation.types), *ERROR_TYPES])
    return OPERATORS.build(known, schemas, {})
