"""Hand-written examples: request bodies, responses that are not resources of the demo studio, webhooks."""

from typing import Any

from services.bookings.errors import BOOKING_REFUSALS
from services.cli.demo.forms import INTAKE, WAIVER_LABEL
from services.cli.demo.people import member_id
from services.cli.demo.studio import STUDIO_ID, demo_id
from services.cli.demo.timetable import (
    DELIVERY_ID,
    ENDPOINT_ID,
    EVENT_ID,
    OPEN_CLASS,
    RECOVERY_ID,
    attending,
    spot_id,
)
from shared.routing import SCOPES
from shared.wire import API_VERSION

_BOOKED = f"{OPEN_CLASS.name}/{attending(OPEN_CLASS)[0]}"
CLASS_ID = OPEN_CLASS.id
# Has no booking in that class yet.
MEMBER_ID = member_id("Ava Bennett")
BOOKING_ID = demo_id("booking", _BOOKED)
FORM_ID = demo_id("form", INTAKE)
LEAD_ID = demo_id("lead", "Robin Castillo")
SUBMISSION_ID = demo_id("form_submission", "Robin Castillo")

CANCELLATION: dict[str, object] = {
    "id": demo_id("booking_cancellation", _BOOKED),
    "object": "booking_cancellation",
    "booking_id": BOOKING_ID,
    "class_id": CLASS_ID,
    "member_id": member_id(attending(OPEN_CLASS)[0]),
    "status": "cancelled",
    "cancelled_at": "2026-08-04T14:05:00Z",
    "reason": "Feeling unwell",
    "late_cancel": True,
    "free_cancel_until": "2026-08-04T09:30:00Z",
    "late_fee_amount": "15.00",
    "late_fee_currency": "USD",
    "late_fee_status": "assessed",
    "credit_forfeited": False,
    "credits_forfeited": 0,
    "credits_restored": 0,
}
_ANSWERS: dict[str, object] = {"goals": ["Strength"], "injuries": "no", "waiver": "true"}
_FIELDS: list[dict[str, object]] = [
    {"key": "rating", "label": "How was class?", "type": "rating", "required": True, "max_rating": 5},
    {
        "key": "what_went_wrong",
        "label": "What could have been better?",
        "type": "textarea",
        "order": 1,
        "display_when": {"field_key": "rating", "op": "lte", "value": "3"},
    },
]

EXAMPLES: dict[str, Any] = {
    "OwnKey": {
        "id": demo_id("key", "demo"),
        "object": "key",
        "name": "Website",
        "studio_id": STUDIO_ID,
        "client_id": demo_id("client", "demo"),
        "scopes": [scope for scope in SCOPES if scope.endswith(":read")],
        "location_ids": None,
        "expires_at": None,
        "rate_limit": {"requests_per_second": 50, "burst": 200},
    },
    "LoggedRequest": {
        "id": "01989c3b-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
        "object": "request",
        "request_id": "5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55",
        "at": "2026-08-03T12:00:00Z",
        "method": "POST",
        "route": "/bookings",
        "status": 409,
        "error_code": "class_full",
        "duration_ms": 7.4,
        "key_id": demo_id("key", "demo"),
    },
    "ConsoleSessionCreate": {"expires_in": 3600, "scopes": ["schedule:read", "webhooks:read"]},
    "ConsoleSession": {
        "object": "console_session",
        "url": "https://api.example.com/console#token=stc_link_…",
        "expires_at": "2026-08-03T13:00:00Z",
    },
    "MemberCreate": {
        "email": "sam.keller@example.com",
        "first_name": "Sam",
        "last_name": "Keller",
        "phone": "+1 212 555 0147",
    },
    "BookingCreate": {"class_id": CLASS_ID, "member_id": MEMBER_ID, "class_spot_id": spot_id("R5")},
    "BookingPreview": {
        "object": "booking_preview",
        "outcome": "waitlisted",
        "waitlist_position": 3,
        "code": None,
        "checks": [{"code": kind.code, "passed": True, "details": {}} for kind in BOOKING_REFUSALS],
    },
    "CancellationReceipt": CANCELLATION,
    "IdempotencyKeyState": {
        "object": "idempotency_key",
        "status": "succeeded",
        "http_status": 201,
        "resource_id": BOOKING_ID,
        "expires_at": "2026-08-04T12:00:00Z",
    },
    "LeadCreate": {
        "email": "robin.castillo@example.com",
        "first_name": "Robin",
        "metadata": {"interest": "pilates"},
        "utm_source": "newsletter",
        "utm_campaign": "summer",
    },
    "LeadUpdate": {
        "phone": "+1 212 555 0182",
        "status": "qualified",
        "notes": "Prefers mornings.",
        "metadata": {"interest": "reformer"},
    },
    "MutationResult": {"id": LEAD_ID, "object": "lead", "created": True},
    "PartnerFormCreate": {"title": "Workshop Feedback", "status": "draft", "fields": _FIELDS},
    "StudioFormUpdate": {
        "status": "published",
        "settings": {"confirmation_message": "Thank you!", "one_submission_per_email": True},
    },
    "FormSubmissionCreate": {
        "submitter_name": "Jules Donovan",
        "submitter_email": "jules.donovan@example.com",
        "data": _ANSWERS,
    },
    "FormEvaluate": {"data": {"goals": ["Strength"], "injuries": "yes"}},
    "FormEvaluation": {
        "object": "form_evaluation",
        "form_id": FORM_ID,
        "form_version": 1,
        "visible_fields": ["about_you", "phone", "goals", "injuries", "injury_details", "waiver"],
        "required_fields": ["goals", "injuries", "injury_details", "waiver"],
        "problems": [
            {"loc": ["body", "data", "waiver"], "msg": f"Needed: {WAIVER_LABEL}", "type": "missing"},
        ],
        "valid": False,
    },
}


ENDPOINT: dict[str, Any] = {
    "id": ENDPOINT_ID,
    "object": "webhook_endpoint",
    "url": "https://partner.example.com/hooks/studio",
    "description": "Production",
    "event_types": ["booking.created", "booking.cancelled"],
    "status": "enabled",
    "disabled_reason": None,
    "fifo": False,
    "rate_limit": None,
    "key_id": demo_id("key", "demo"),
    "created_at": "2026-08-03T15:00:00Z",
}
_DELIVERY: dict[str, Any] = {
    "id": DELIVERY_ID,
    "object": "webhook_delivery",
    "endpoint_id": ENDPOINT_ID,
    "event_id": EVENT_ID,
    "event_type": "booking.created",
    "sequence": 42,
    "status": "pending",
    "attempt_count": 1,
    "next_attempt_at": "2026-08-03T15:04:11Z",
    "created_at": "2026-08-03T15:04:05Z",
    "attempts": [
        {
            "at": "2026-08-03T15:04:06Z",
            "duration_ms": 118,
            "response_status": 503,
            "response_body": "try later",
            "error": None,
        }
    ],
}


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


WEBHOOK_EXAMPLES: dict[str, Any] = {
    "Endpoint": ENDPOINT,
    "EndpointWithSecret": {**ENDPOINT, "secret": "whsec_" + "c3R1ZGlvLXBhcnRuZXItYXBpLWRlbW8tc2VjcmV0LTE="},
    "EndpointCreate": {
        "url": ENDPOINT["url"],
        "description": ENDPOINT["description"],
        "event_types": ENDPOINT["event_types"],
    },
    "EndpointUpdate": {"status": "enabled", "event_types": []},
    "RotateSecret": {"overlap_seconds": 86400},
    "Recover": {"since": "2026-08-03T00:00:00Z"},
    "Recovery": {
        "id": RECOVERY_ID,
        "object": "webhook_recovery",
        "endpoint_id": ENDPOINT_ID,
        "since": "2026-08-03T00:00:00Z",
        "status": "running",
        "offered": 12,
        "created_at": "2026-08-03T16:00:00Z",
    },
    "Delivery": _DELIVERY,
}
