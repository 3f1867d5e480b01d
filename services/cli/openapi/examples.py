"""Examples. Resources come from the demo studio, so that readers can try them; the rest are in examples.json.

In that file `$booking_id` and the like stand for the ids of the demo studio, which are below.
"""

from datetime import date
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Final

import msgspec
from msgspec import Struct

from services.bookings.errors import BOOKING_REFUSALS, MOVE_REFUSALS, AlreadyHeld, TooManyHolds
from services.bookings.wire.bookings import Booking
from services.cli.demo import demo_lines
from services.cli.demo.studio import STUDIO_ID, demo_id
from services.cli.demo.timetable import (
    BOOKING_ID,
    DELIVERY_ID,
    ENDPOINT_ID,
    EVENT_ID,
    FULL_CLASS,
    IDEMPOTENCY_KEY,
    KEY_ID,
    LEFT_CLASS,
    MOVABLE_ID,
    OPEN_CLASS,
    RECOVERY_ID,
    STAFF_TOKEN_ID,
    attending,
    spot_id,
)
from services.webhooks.wire.events import EventPage, EventRead, EventTypeTable
from shared.events.bus import EVENT_LOG
from shared.events.kinds import BookingCreated
from shared.http.pages import Page
from shared.wire import API_VERSION

STUDIO: Final = "demo"
DAY: Final = date(2026, 8, 3)
REQUEST_ID: Final = "5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55"
_ATTENDEE: Final = attending(OPEN_CLASS)[0]
_WAITING: Final = [f"{FULL_CLASS.name}/{member['name']}" for member in attending(FULL_CLASS)]

PATH_EXAMPLES: Final = {
    "location_id": demo_id("location", "brooklyn"),
    "room_id": demo_id("room", "brooklyn-main"),
    "class_type_id": demo_id("class_type", "flow"),
    "instructor_id": demo_id("instructor", "maya"),
    "product_id": demo_id("product", "intro-3"),
    "class_id": OPEN_CLASS.id,
    # Has no booking in that class yet.
    "member_id": demo_id("member", "Ava Bennett"),
    "membership_id": demo_id("membership", "Ava Bennett"),
    "booking_id": BOOKING_ID,
    "waitlist_id": demo_id("waitlist", _WAITING[-1]),
    "key": IDEMPOTENCY_KEY,
    "purchase_id": demo_id("purchase", "Ruby Larsen/intro-3"),
    "form_id": demo_id("form", "new-client-intake"),
    "submission_id": demo_id("form_submission", "Robin Castillo"),
    "lead_id": demo_id("lead", "Robin Castillo"),
    "endpoint_id": ENDPOINT_ID,
    "delivery_id": DELIVERY_ID,
    "recovery_id": RECOVERY_ID,
    "event_id": EVENT_ID,
    "studio": STUDIO,
    "client": "demo",
    "key_id": KEY_ID,
    "token_id": STAFF_TOKEN_ID,
    "queue": EVENT_LOG.name,
}
# Where a query field makes the sample work or clearer, and where a write needs a row that nothing else uses.
BY_OPERATION: Final[dict[str, dict[str, str]]] = {
    "list_deliveries_of_event": {"event_id": EVENT_ID},
    "list_requests": {"client": "demo"},
    "get_request_counts": {"client": "demo"},
    "count_missed_events": {"since": "2026-08-03T00:00:00Z"},
    "list_export": {"studio": STUDIO},
    "import_lines": {"studio": STUDIO},
    "reschedule_booking": {"booking_id": MOVABLE_ID},
    "preview_reschedule": {"booking_id": MOVABLE_ID},
    "list_reschedules": {"booking_id": MOVABLE_ID},
    "cancel_class": {"class_id": FULL_CLASS.id},
    "skip_waitlist_entry": {"waitlist_id": demo_id("waitlist", _WAITING[-2])},
    "reject_submission": {"submission_id": demo_id("form_submission", "Quinn Farrell")},
    "erase_member": {"member_id": demo_id("member", "Dana Abbott"), "studio": STUDIO},
    "erase_lead": {"lead_id": demo_id("lead", "Noor Haddad"), "studio": STUDIO},
}
_MORE_IDS: Final = {
    "studio_id": STUDIO_ID,
    "client_id": demo_id("client", "demo"),
    "spot_id": spot_id("R5"),
    "cancellation_id": demo_id("booking_cancellation", f"{OPEN_CLASS.name}/{_ATTENDEE['name']}"),
    "movable_id": MOVABLE_ID,
    "mover_id": attending(LEFT_CLASS)[0]["id"],
    "left_class_id": LEFT_CLASS.id,
    "new_spot_id": spot_id("R6"),
    "reschedule_id": demo_id("booking_reschedule", LEFT_CLASS.name),
    "class_title": "Reformer Pilates",
    "walk_in_spot_id": spot_id("R6"),
    "attendee": _ATTENDEE["name"],
    "attendee_id": _ATTENDEE["id"],
    "attendee_email": _ATTENDEE["email"],
    "erased_id": demo_id("member", "Dana Abbott"),
    "sample_id": demo_id("class_type", "sample"),
    "request_id": REQUEST_ID,
    "api_version": API_VERSION,
}
_FILE: Final = Template(Path(__file__).with_suffix(".json").read_text("utf-8"))
_WRITTEN: Final[dict[str, dict[str, Any]]] = msgspec.json.decode(_FILE.substitute(PATH_EXAMPLES | _MORE_IDS))
STRUCTS: Final = _WRITTEN["structs"]
STRUCTS["BookingPreview"]["checks"] = [
    {"code": kind.code, "passed": True, "details": {}}
    for kind in BOOKING_REFUSALS
    if kind not in (AlreadyHeld, TooManyHolds)
]
STRUCTS["ReschedulePreview"]["checks"] = [
    {"code": kind.code, "passed": True, "details": {}} for kind in MOVE_REFUSALS if kind is not AlreadyHeld
]
# Param, details and message of an error, by its code; what is left out is null, empty or the error's own.
ERRORS: Final = _WRITTEN["errors"]
NDJSON_LINE: Final = msgspec.json.encode(_WRITTEN["line"]).decode()


def example_of(kind: Any) -> Any:
    """None if there is no example."""
    if kind is str:
        return NDJSON_LINE + "\n"
    origin = getattr(kind, "__origin__", kind)
    if origin is Page:
        item = example_of(kind.__args__[0])
        return None if item is None else _page(item)
    if not (isinstance(origin, type) and issubclass(origin, Struct)):
        return None
    if origin is EventRead:
        return event_example("booking.created", example_of(Booking), located=True)
    if origin is EventPage:
        return _page(example_of(EventRead)) | {"latest_sequence": 4711, "oldest_sequence": 1}
    if origin is EventTypeTable:
        return {"object": "list", "data": [_event_type()]}
    if origin.__name__ in STRUCTS:
        return STRUCTS[origin.__name__]
    tag = next((field.default for field in msgspec.structs.fields(origin) if field.name == "object"), None)
    line = _first_lines().get(tag) if isinstance(tag, str) else None
    if line is None:
        return None
    return msgspec.json.decode(
        msgspec.json.encode(msgspec.json.decode(msgspec.json.encode(line), type=origin))
    )


def event_example(kind: str, resource: dict[str, Any], *, located: bool) -> dict[str, Any]:
    return {
        "id": demo_id("event", kind),
        "object": "event",
        "type": kind,
        "created_at": "2026-08-03T15:04:05Z",
        "api_version": API_VERSION,
        "studio_id": STUDIO_ID,
        "location_id": demo_id("location", "brooklyn") if located else None,
        "sequence": 4711,
        "resource": {"object": resource["object"], "id": resource["id"], "version": 1},
        "request_id": None,
        "data": {"object": resource},
    }


def _event_type() -> dict[str, Any]:
    """`GET /event-types` has the whole schema."""
    return {
        "object": "event_type",
        "name": BookingCreated.name,
        "description": BookingCreated.description,
        "scope": BookingCreated.scope,
        "schema": {"type": "object", "properties": {"type": {"const": BookingCreated.name}}},
        "example": example_of(EventRead),
    }


@cache
def _first_lines() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for line in demo_lines(DAY):
        found.setdefault(str(line["object"]), line)
    return found


def _page(item: Any) -> dict[str, Any]:
    more = isinstance(item, dict) and "id" in item
    return {"object": "list", "data": [item], "has_more": more, "next_cursor": item["id"] if more else None}
