"""What the document says in words: an overview, and a sentence for each group of operations."""

from collections.abc import Iterable
from typing import Any

from shared.wire import API_VERSION

OVERVIEW = """\
A fitness studio's data for its partners, over HTTP and JSON: the studio and its locations, the schedule,
products, forms, leads, members, bookings, the waitlist and purchases.

- **Keys.** Send the key in `X-Service-Key`, from a server. It is bound to one studio and to a set of
  scopes, and may be limited to certain locations: whatever lies elsewhere is answered 404.
- **Times** are ISO 8601 with an offset or `Z`. **Ids** are UUIDs; treat them as opaque. Amounts are
  decimals as text.
- **Lists** answer `{object: "list", data, has_more, next_cursor}`. While `has_more`, send `next_cursor`
  back unchanged as `cursor`.
- **Errors** are one object: `{"error": {type, code, message, param, details, request_id}}`; a 422 has
  the list `detail` beside it. Decide by `code`.
- **Idempotency.** Creating and cancelling a booking need an `Idempotency-Key`. The first answer is
  replayed, byte for byte, for 24 hours, with `Idempotent-Replayed: true`.
- **Rate limits** are a token bucket per client and gateway replica: 50 requests a second with a burst of
  200 unless agreed otherwise. `RateLimit-*` headers tell what is left.
- **Events** reach your webhook endpoints signed by Standard Webhooks, and `GET /events` holds 30 days of
  them.
- **Versions.** Additions are not breaking. A breaking change gets a new date, and the old one is served
  for at least 12 months with `Deprecation`, `Sunset` and `Link` headers.
"""

INFO: dict[str, Any] = {
    "title": "Studio Partner API",
    "version": API_VERSION,
    "summary": "One studio's schedule, members, bookings and more, for its partners.",
    "description": OVERVIEW,
    "license": {"name": "MIT", "identifier": "MIT"},
}

GROUPS = {
    "Key": "The key that a call is made with.",
    "Studio": "The studio and its locations.",
    "Schedule": "Rooms, class types, instructors and classes with their availability.",
    "Classes": "Class sessions, their availability and their spots.",
    "Catalog": "Products with their prices.",
    "Members": "Member profiles and memberships.",
    "Bookings": "Booking a class, cancelling, and asking what either would come to.",
    "Waitlist": "Who retryable for a seat.",
    "Purchases": "What members bought. Read-only.",
    "Forms": "Forms, their conditional fields, and submissions.",
    "Form submissions": "Answers to a form, checked as the studio's own widgets check them.",
    "Leads": "People who may become members, one per normalized email.",
    "Webhooks": "Endpoints that events are delivered to, and what became of each delivery.",
    "Events": "The log of what happened, kept for 30 days.",
}


def tags(names: Iterable[str]) -> list[dict[str, str]]:
    """In the order in which the operations use them."""
    return [{"name": name, "description": GROUPS.get(name, "")} for name in dict.fromkeys(names)]
