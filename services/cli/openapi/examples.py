"""Examples. Resources come from the demo studio, so that readers can try them; the rest are hand-written."""

from datetime import date
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from services.bookings.wire.bookings import Booking
from services.cli.demo import demo_lines
from services.cli.demo.people import ANSWERED, NEWCOMER, PACK_HOLDERS, member_id
from services.cli.demo.studio import BROOKLYN, STUDIO_ID, demo_id
from services.cli.demo.timetable import (
    DELIVERY_ID,
    ENDPOINT_ID,
    EVENT_ID,
    FULL_CLASS,
    IDEMPOTENCY_KEY,
    KEY_ID,
    RECOVERY_ID,
    STAFF_TOKEN_ID,
    attending,
)
from services.cli.openapi.written_examples import (
    BOOKING_ID,
    CANCELLATION,
    CLASS_ID,
    EXAMPLES,
    FORM_ID,
    LEAD_ID,
    MEMBER_ID,
    NDJSON_LINE,
    OPERATOR_EXAMPLES,
    STUDIO,
    SUBMISSION_ID,
    WEBHOOK_EXAMPLES,
)
from services.webhooks.wire.events import EventPage, EventRead, EventTypeTable
from shared.events.bus import EVENT_LOG
from shared.events.kinds import BookingCreated
from shared.http.pages import Page
from shared.wire import API_VERSION

ErrorFields = tuple[str | None, dict[str, object]]

TERMS = (
    "late_cancel",
    "free_cancel_until",
    "late_fee_amount",
    "late_fee_currency",
    "late_fee_status",
    "credit_forfeited",
    "credits_forfeited",
    "credits_restored",
)
_SEATS: dict[str, object] = {"capacity": 12, "booked_count": 12, "allow_waitlist": True, "waitlist_count": 2}

EXAMPLE_FIELDS: dict[str, ErrorFields] = {
    "invalid_cursor": ("cursor", {}),
    "unsupported_api_version": ("X-API-Version", {"supported": [API_VERSION]}),
    "insufficient_scope": (None, {"required_scope": "members:write", "granted_scopes": ["members:read"]}),
    "class_full": ("class_id", _SEATS),
    "waitlist_not_allowed": ("class_id", {**_SEATS, "allow_waitlist": False, "waitlist_count": 0}),
    "waitlist_full": ("class_id", _SEATS),
    "already_booked": ("member_id", {"booking_id": BOOKING_ID}),
    "already_waitlisted": ("member_id", {"booking_id": BOOKING_ID}),
    "class_not_bookable": ("class_id", {"reason": "started"}),
    "spot_required": ("class_spot_id", {}),
    "spot_taken": ("class_spot_id", {}),
    "member_not_eligible": ("member_id", {"reasons": ["no_membership_or_credits"]}),
    "booking_already_cancelled": (None, {"receipt": CANCELLATION}),
    "booking_not_cancellable": (None, {"status": "checked_in"}),
    "cancellation_terms_changed": (None, {key: CANCELLATION[key] for key in TERMS}),
    "member_exists": ("email", {"member_id": MEMBER_ID}),
    "slug_taken": ("slug", {"slug": "new-client-intake"}),
    "invalid_state_transition": (
        "status",
        {"from": "published", "to": "draft", "allowed": ["archived"]},
    ),
    "form_not_published": ("form_id", {"status": "draft"}),
    "form_closed": ("form_id", {"closes_at": "2026-08-01T00:00:00Z"}),
    "submission_limit_reached": ("form_id", {"max_submissions": 100}),
    "already_submitted": ("submitter_email", {"submission_id": SUBMISSION_ID}),
    "recovery_in_progress": (None, {"recovery_id": RECOVERY_ID}),
    "lead_exists": ("email", {"lead_id": LEAD_ID}),
}
MESSAGES: dict[str, str] = {
    "unsupported_api_version": "The version in X-API-Version is not supported.",
    "insufficient_scope": "This request requires the scope members:write, which the key does not have.",
    "invalid_state_transition": "published cannot become draft.",
}


PATH_EXAMPLES: Final = {
    "location_id": demo_id("location", BROOKLYN),
    "room_id": demo_id("room", "brooklyn-main"),
    "class_type_id": demo_id("class_type", "flow"),
    "instructor_id": demo_id("instructor", "maya"),
    "product_id": demo_id("product", "intro-3"),
    "class_id": CLASS_ID,
    "member_id": MEMBER_ID,
    "membership_id": demo_id("membership", "Ava Bennett"),
    "booking_id": BOOKING_ID,
    "waitlist_id": demo_id("waitlist", f"{FULL_CLASS.name}/{attending(FULL_CLASS)[-1]}"),
    "key": IDEMPOTENCY_KEY,
    "purchase_id": demo_id("purchase", f"{PACK_HOLDERS[0]}/intro-3"),
    "form_id": FORM_ID,
    "submission_id": SUBMISSION_ID,
    "lead_id": LEAD_ID,
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
    "list_export": {"studio": STUDIO},
    "import_lines": {"studio": STUDIO},
    "cancel_class": {"class_id": FULL_CLASS.id},
    "reject_submission": {"submission_id": demo_id("form_submission", ANSWERED[1])},
    "erase_member": {"member_id": member_id(NEWCOMER), "studio": STUDIO},
    "erase_lead": {"lead_id": demo_id("lead", "Noor Haddad"), "studio": STUDIO},
}


DAY: Final = date(2026, 8, 3)
REQUEST_ID: Final = "5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55"
WRITTEN: Final = EXAMPLES | WEBHOOK_EXAMPLES | OPERATOR_EXAMPLES
assert len(WRITTEN) == len(EXAMPLES) + len(WEBHOOK_EXAMPLES) + len(OPERATOR_EXAMPLES)


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
        return _page(example_of(EventRead)) | {"latest_sequence": 4711}
    if origin is EventTypeTable:
        return {"object": "list", "data": [_event_type()]}
    if origin.__name__ in WRITTEN:
        return WRITTEN[origin.__name__]
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
        "location_id": demo_id("location", BROOKLYN) if located else None,
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
