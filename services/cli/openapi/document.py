"""The partners' document as a whole: overview, limits, tags, paths, webhooks, components."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from services.bookings.wire import bookings, classes
from services.cli.openapi.code_samples import code_samples
from services.cli.openapi.events import event_types, webhooks
from services.cli.openapi.operations import Operation, operations
from services.cli.openapi.parameters import SHARED_PARAMETERS, parameters
from services.cli.openapi.responses import (
    ERROR_TYPES,
    HEADERS,
    NOT_MODIFIED,
    is_conditional,
    request_body,
    responses,
    shared_responses,
)
from services.cli.openapi.schemas import Schemas
from services.forms.rules import answer_values, json_limits, lead_metadata, slugs
from services.forms.rules.field_checks import texts
from services.forms.wire import forms
from services.gateway.actions import open_console
from services.gateway.rules import rate_limit
from services.gateway.rules.rate_limit import BYTES_PER_TOKEN, LARGE_BODY, FailedKeyLimits
from services.webhooks.actions import create_endpoint
from services.webhooks.rules import urls
from shared import errors, phones, wire
from shared.http import decoding, routes
from shared.http import json_limits as body_limits
from shared.http.body_problems import EARLIEST, LATEST
from shared.phones import PHONE_RULE
from shared.routing import ANY_KEY, PREFIX
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
    Limit((errors, "MAX_PROBLEMS"), "problems listed in a 422; the message counts the rest"),
    Limit((routes, "MIN_KEY_LENGTH"), "characters at least in an Idempotency-Key, header or path"),
    Limit((routes, "MAX_KEY_LENGTH"), "characters in an Idempotency-Key, header or path"),
    Limit((wire, "MAX_EMAIL_LENGTH"), "characters in an email"),
    Limit((phones, "MAX_PHONE_LENGTH"), "characters in a phone number, of a lead, a member or an answer"),
    Limit((json_limits, "MAX_METADATA_BYTES"), "bytes in a lead's `metadata`, written as JSON"),
    Limit((json_limits, "MAX_DEPTH"), "levels of nesting in `metadata`, `fields` and `settings`"),
    Limit((lead_metadata, "MAX_FORM_CONTEXT"), "entries in `metadata.form_submissions`"),
    Limit((forms, "MAX_FIELDS"), "fields in a form"),
    Limit((texts, "MAX_TEXT_LENGTH"), "characters in an answer to a `text` field"),
    Limit((texts, "MAX_TEXTAREA_LENGTH"), "characters in an answer to a `textarea` field"),
    Limit((texts, "MAX_ADDRESS_LENGTH"), "characters in an answer to an `address` field"),
    Limit((texts, "MAX_SIGNATURE_LENGTH"), "characters in an answer to a `signature` field"),
    Limit((answer_values, "MAX_NUMBER_LENGTH"), "characters in an answer to a `number` field"),
    Limit((classes, "MAX_IDS"), "ids in the `ids` of a list of classes"),
    Limit(
        (bookings, "MAX_CLASSES_IN_RANGE"),
        "classes in the range of `starts_after` and `starts_before` when bookings are listed",
    ),
    Limit((create_endpoint, "MAX_ENDPOINTS"), "webhook endpoints of a client (409 `too_many_endpoints`)"),
    Limit(
        (rate_limit, "MAX_LARGE_BODIES"),
        f"bodies of a client over {LARGE_BODY // 1024} KiB that a gateway replica handles at once"
        " (429 `rate_limited`)",
    ),
    Limit((open_console, "MAX_OPEN_LINKS"), "unused console links of a client (429 `rate_limited`)"),
    Limit((urls, "MAX_LENGTH"), "characters in an endpoint's `url`"),
    Limit((urls, "MAX_NAME_LENGTH"), "characters in the host name of an endpoint's `url`"),
    Limit((slugs, "MAX_SLUG_LENGTH"), "characters in a slug that is made from a title"),
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


def limits_by_text() -> dict[str, int | float]:
    return {limit.text: limit.value for limit in LIMITS}


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

PHONES = f"## Phone numbers\n\n{PHONE_RULE}\n"

INFO: dict[str, Any] = {
    "title": "Studio Partner API",
    "version": API_VERSION,
    "summary": "A studio's schedule, members, bookings and more, for its partners.",
    "description": f"{OVERVIEW}\n{PHONES}\n{limits_table()}",
    "license": {"name": "MIT", "identifier": "MIT"},
}

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


def tags(names: Iterable[str]) -> list[dict[str, str]]:
    """In the order in which the operations use them."""
    return [{"name": name, "description": GROUPS.get(name, "")} for name in dict.fromkeys(names)]


Json = dict[str, Any]


def document() -> Json:
    known = operations()
    types = [kind for operation in known for kind in operation.types]
    schemas = Schemas([*types, *ERROR_TYPES, *event_types()])
    paths: dict[str, Json] = defaultdict(dict)
    for operation in known:
        paths[operation.path][operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": INFO,
        "x-limits": limits_by_text(),
        "servers": [{"url": PREFIX, "description": "The host that served this document."}],
        "security": [{"ServiceKey": []}],
        "tags": tags([operation.tag for operation in known]),
        "paths": dict(paths),
        "webhooks": webhooks(schemas),
        "components": {
            "securitySchemes": {
                "ServiceKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Service-Key",
                    "description": "Only from a server. A key is bound to one studio and a set of scopes.",
                }
            },
            "parameters": SHARED_PARAMETERS,
            "headers": HEADERS,
            "responses": {"NotModified": NOT_MODIFIED, **shared_responses()},
            "schemas": schemas.components(),
        },
    }


def _operation(operation: Operation, schemas: Schemas) -> Json:
    route = operation.route
    scope = operation.scope
    needs = "Any valid key may call this." if scope == ANY_KEY else f"Required scope: `{scope}`."
    described: Json = {
        "operationId": operation.id,
        "summary": route.summary,
        "description": "\n\n".join(part for part in (route.description, needs) if part),
        "tags": [operation.tag],
        "parameters": parameters(route, schemas, conditional=is_conditional(route)),
        "responses": responses(operation, schemas),
        "security": [{"ServiceKey": [] if scope == ANY_KEY else [scope]}],
        "x-required-scope": None if scope == ANY_KEY else scope,
    }
    if route.body is not None:
        described["requestBody"] = request_body(route, schemas)
    samples = code_samples(operation.method, operation.path, described, SHARED_PARAMETERS)
    return described | {"x-codeSamples": samples}


def document_bytes() -> bytes:
    """Deterministic: the same code gives the same bytes on every machine."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=1) + b"\n"
