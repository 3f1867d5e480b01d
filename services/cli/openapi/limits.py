"""Every limit that can refuse a request and is not in a schema, read from the code that enforces it."""

from typing import Any

from msgspec import Struct

from services.bookings.wire import bookings, classes
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
from shared.http.value_checks import EARLIEST, LATEST


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
