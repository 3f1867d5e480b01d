"""The `webhooks` section: one entry per event kind, all in the same envelope."""

from typing import Any

from services.bookings.wire.bookings import Booking
from services.bookings.wire.classes import Class
from services.bookings.wire.members import Member
from services.bookings.wire.waitlist import WaitlistEntry
from services.cli.openapi.examples import example_of
from services.cli.openapi.request_examples import FORM_ID, SUBMISSION_ID
from services.cli.openapi.schemas import Schemas
from services.cli.openapi.webhook_examples import event_example
from services.forms.wire.leads import Lead
from services.webhooks.wire.endpoints import Endpoint
from services.webhooks.wire.events import EventRead
from shared.events import kinds as events
from shared.events.kinds import Event, kind_of

Json = dict[str, Any]

# What `data.object` holds; a form submission is sent without its answers.
RESOURCES: dict[type[Event], Any] = {
    events.BookingCreated: Booking,
    events.BookingConfirmed: Booking,
    events.BookingCancelled: Booking,
    events.WaitlistUpdated: WaitlistEntry,
    events.ClassCancelled: Class,
    events.MemberCreated: Member,
    events.LeadCreated: Lead,
    events.LeadUpdated: Lead,
    events.FormSubmitted: None,
    events.WebhookTest: Endpoint,
}
SUMMARIES: dict[type[Event], str] = {
    events.BookingCreated: "A booking was created, confirmed or waitlisted",
    events.BookingConfirmed: "A waitlisted booking was confirmed",
    events.BookingCancelled: "A booking was cancelled",
    events.WaitlistUpdated: "A waitlist entry was added, moved or removed",
    events.ClassCancelled: "A class was cancelled",
    events.MemberCreated: "A member was created",
    events.LeadCreated: "A lead was created",
    events.LeadUpdated: "A lead was changed",
    events.FormSubmitted: "A form was submitted",
    events.WebhookTest: "A test event that you requested",
}
EVENT_TYPES = (EventRead, *(kind for kind in RESOURCES.values() if kind is not None))
# How the example of the resource differs after the event.
CHANGED_FIELDS: dict[type[Event], Json] = {
    events.BookingCancelled: {"status": "cancelled"},
    events.ClassCancelled: {"status": "cancelled", "booked_count": 0, "available_count": 20},
}
_UUID: Json = {"type": "string", "format": "uuid"}
THIN: Json = {
    "type": "object",
    "description": "Fetch the submission by its id.",
    "properties": {"id": _UUID, "object": {"const": "form_submission"}, "form_id": _UUID},
    "required": ["id", "object", "form_id"],
}
THIN_EXAMPLE: Json = {"id": SUBMISSION_ID, "object": "form_submission", "form_id": FORM_ID}


def webhooks(schemas: Schemas) -> Json:
    return {kind_of(kind): {"post": _delivery(kind, schemas)} for kind in events.KINDS.values()}


def _delivery(kind: type[Event], schemas: Schemas) -> Json:
    name = kind_of(kind)
    resource = RESOURCES[kind]
    schema, example = THIN, THIN_EXAMPLE
    if resource is not None:
        schema, example = schemas.of(resource), {**example_of(resource), **CHANGED_FIELDS.get(kind, {})}
    needs = f"Required scope: `{kind.scope}`." if kind.scope else "No scope is required."
    return {
        "operationId": "on_" + name.replace(".", "_"),
        "summary": SUMMARIES[kind],
        "description": f"{needs} Answer 2xx within 15 seconds; otherwise the delivery is retried.",
        "tags": ["Webhooks"],
        "x-required-scope": kind.scope,
        "security": [],
        "parameters": [_header(*header) for header in HEADERS],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": _envelope(name, schema, schemas),
                    "example": event_example(name, example, located=kind.location_bound),
                }
            },
        },
        "responses": {
            "2XX": {"description": "Accepted; it is not sent again."},
            "410": {"description": "The endpoint is disabled."},
            "default": {"description": "Failed; retried with increasing delays for about three days."},
        },
    }


HEADERS = (
    ("webhook-id", "The event's id. It is the same in every attempt; use it to detect duplicates.", _UUID),
    ("webhook-timestamp", "When this attempt was made, in Unix seconds.", {"type": "integer"}),
    (
        "webhook-signature",
        "`v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`, one per active secret, space-separated.",
        {"type": "string"},
    ),
    (
        "webhook-sequence",
        "Without gaps per endpoint: a missing number is a missing event.",
        {"type": "integer"},
    ),
)


def _header(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "in": "header", "required": True, "description": description, "schema": schema}


def _envelope(name: str, resource: Json, schemas: Schemas) -> Json:
    """The event as `GET /events` returns it, with the `type` and `data` of this kind."""
    event = schemas.resolved(EventRead)
    own: Json = {
        "type": {"type": "string", "const": name},
        "data": {"type": "object", "properties": {"object": resource}, "required": ["object"]},
    }
    return {"type": "object", "properties": {**event["properties"], **own}, "required": event["required"]}
