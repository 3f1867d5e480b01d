"""The overview of the API, and a sentence for each group of operations."""

from collections.abc import Iterable
from typing import Any

from services.cli.openapi.limits import limits_table
from shared.phones import PHONE_RULE
from shared.wire import API_VERSION

OVERVIEW = """\
The API gives partners access to a fitness studio's data over HTTP and JSON: the studio and its locations,
the schedule, products, forms, leads, members, bookings, the waitlist and purchases.

- **Keys.** Send your key in `X-Service-Key`, only from a server. A key is bound to one studio and a set of
  scopes. It may be limited to certain locations; resources elsewhere are answered with 404.
- **Times** are ISO 8601 with an offset or `Z`. **Ids** are UUIDs; treat them as opaque. **Amounts** are
  decimal strings.
- **Lists** return `{object: "list", data, has_more, next_cursor}`. While `has_more` is true, send
  `next_cursor` back unchanged as `cursor`.
- **Polling.** Every 200 answer to a GET carries an `ETag`, except a cancellation preview, which tells the
  present instant. Send it back as `If-None-Match`: while nothing has changed, the answer is 304 without a
  body. A 304 counts as a request.
- **Errors** have one shape: `{"error": {type, code, message, param, details, request_id}}`. A 422 also has
  `detail`, a list of all problems. Use `code` in programs.
- **Idempotency.** Creating and cancelling a booking require an `Idempotency-Key`. For 24 hours a repeated
  request gets the first answer, byte for byte, with `Idempotent-Replayed: true`.
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
