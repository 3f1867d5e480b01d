"""Hand-written examples: request bodies, responses that are not resources of the demo studio, webhooks."""

from typing import Any, Final

import msgspec

from services.bookings.errors import BOOKING_REFUSALS
from services.cli.demo.people import INTAKE, NEWCOMER, WAIVER_LABEL, email_of, member_id
from services.cli.demo.studio import BROOKLYN, STUDIO_ID, demo_id
from services.cli.demo.timetable import (
    DELIVERY_ID,
    ENDPOINT_ID,
    EVENT_ID,
    KEY_ID,
    OPEN_CLASS,
    RECOVERY_ID,
    STAFF_TOKEN_ID,
    attending,
    spot_id,
)
from shared.events.bus import EVENT_LOG
from shared.routing import SCOPES

_ATTENDEE = attending(OPEN_CLASS)[0]
_BOOKED = f"{OPEN_CLASS.name}/{_ATTENDEE}"
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
    "member_id": member_id(_ATTENDEE),
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


STUDIO: Final = "demo"
_KEY: Final[dict[str, Any]] = {
    "id": KEY_ID,
    "object": "key",
    "studio_id": STUDIO_ID,
    "client_id": demo_id("client", "demo"),
    "client_name": "Website",
    "name": "Website 2026",
    "prefix": "spk_live_3Fh1zq0mY8WvQn5bT2rKdE",
    "scopes": ["schedule:read", "bookings:write"],
    "location_ids": None,
    "created_at": "2026-08-03T12:00:00Z",
    "expires_at": None,
    "last_used_at": "2026-08-03T14:05:00Z",
    "revoked_at": None,
}
_STAFF_TOKEN: Final[dict[str, Any]] = {
    "id": STAFF_TOKEN_ID,
    "object": "staff_token",
    "studio_id": STUDIO_ID,
    "name": "Front desk",
    "role": "staff",
    "prefix": "stf_5Kq2WvYt9LmRz0XbN4cHdP",
    "created_at": "2026-08-03T12:00:00Z",
    "last_used_at": None,
    "revoked_at": None,
}
_LINE: Final = {
    "object": "class_type",
    "id": demo_id("class_type", "sample"),
    "name": "Sound Bath",
    "description": "Lie down and listen.",
}
NDJSON_LINE: Final = msgspec.json.encode(_LINE).decode()
_SERVICE: Final = {"status": "ready", "parts": {"database": "ok", "bus": "ok"}}
OPERATOR_EXAMPLES: Final[dict[str, Any]] = {
    "OperatorStudio": {
        "id": STUDIO_ID,
        "object": "studio",
        "name": "Northlight Movement",
        "slug": STUDIO,
        "timezone": "America/New_York",
        "test": False,
        "created_at": "2026-08-03T12:00:00Z",
    },
    "StudioCreate": {"name": "Riverside Yoga", "slug": "riverside", "timezone": "Europe/Berlin"},
    "Client": {
        "id": demo_id("client", "demo"),
        "object": "client",
        "studio_id": STUDIO_ID,
        "name": "Website",
        "rate": 50.0,
        "burst": 200,
        "created_at": "2026-08-03T12:00:00Z",
    },
    "ClientSet": {"rate": 100, "burst": 400},
    "Key": _KEY,
    "IssuedKey": {**_KEY, "last_used_at": None, "key": _KEY["prefix"] + "_…"},
    "KeyCreate": {
        "studio": STUDIO,
        "name": "Website 2026",
        "client": "Website",
        "scopes": _KEY["scopes"],
        "expires_in": 31_536_000,
    },
    "KeyRotate": {"overlap": 3600},
    "KeyRevoke": {"with_endpoints": False},
    "KeyUsage": {
        "id": KEY_ID,
        "object": "key_usage",
        **{name: _KEY[name] for name in ("studio_id", "client_id", "client_name", "name", "prefix")},
        "requests": 18_204,
        "errors": 12,
        "last_used_at": "2026-08-03T14:05:00Z",
    },
    "AuditEntry": {
        "id": "01989c3b-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
        "object": "audit_entry",
        "at": "2026-08-03T12:00:00Z",
        "actor": "operator",
        "action": "keys.create",
        "target": KEY_ID,
        "request_id": "5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55",
    },
    "StaffToken": _STAFF_TOKEN,
    "IssuedStaffToken": {**_STAFF_TOKEN, "token": _STAFF_TOKEN["prefix"] + "_…"},
    "StaffTokenCreate": {"name": "Front desk", "role": "staff"},
    "SequencesAdvance": {"by": 1_000_000},
    "SequencesAdvanced": {"object": "sequences_advanced", "studios": 1, "by": 1_000_000},
    "SystemStatus": {
        "object": "status",
        "services": dict.fromkeys(("gateway", "catalog", "bookings", "forms", "webhooks"), _SERVICE),
    },
    "Erasure": {
        "object": "erasure",
        "studio_id": STUDIO_ID,
        "member_id": member_id(NEWCOMER),
        "erased": {"bookings": {"members": 1}, "forms": {"leads": 0}, "webhooks": {"events": 3}},
    },
    "ImportAnswer": {
        "object": "import_report",
        "lines": 2,
        "imported": 1,
        "rejected_count": 1,
        "rejected": [{"line": 2, "reason": "Object missing required field `name`"}],
    },
    "ClassCreate": {
        "title": "Sunday Flow",
        "class_type_id": demo_id("class_type", "flow"),
        "location_id": demo_id("location", BROOKLYN),
        "room_id": demo_id("room", "brooklyn-main"),
        "instructor_id": demo_id("instructor", "maya"),
        "start_time": "2036-06-22T09:30:00-04:00",
        "end_time": "2036-06-22T10:30:00-04:00",
        "capacity": 20,
        "allow_waitlist": True,
    },
    "ClassChange": {"title": "Reformer Retreat", "capacity": 9},
    "ClassCancel": {"reason": "The instructor is ill."},
    "BookingCancel": {"reason": "Called the desk"},
    "MembershipPause": {"resumes_at": "2036-09-01T00:00:00Z", "reason": "Travelling"},
    "MembershipCancel": {"at_period_end": False, "reason": "Moved to another city"},
    "PurchaseCreate": {
        "member_id": MEMBER_ID,
        "product_id": demo_id("product", "intro-3"),
        "amount_total": "49.00",
        "currency": "USD",
    },
    "StaffMember": {
        "id": MEMBER_ID,
        "object": "member",
        "name": "Ava Bennett",
        "first_name": "Ava",
        "last_name": "Bennett",
        "email": email_of("Ava Bennett"),
        "role": "member",
        "membership_type": "intro",
        "membership_start_date": "2026-06-01T15:00:00Z",
        "membership_end_date": None,
        "created_at": "2026-06-01T15:00:00Z",
        "phone": "+12125550100",
        "suspended": False,
        "credits": 3,
    },
    "RosterEntry": {
        "id": BOOKING_ID,
        "object": "booking",
        "class_id": OPEN_CLASS.id,
        "member_id": member_id(_ATTENDEE),
        "status": "confirmed",
        "booking_source": "partner_api",
        "class_spot_id": None,
        "waitlist_position": None,
        "created_at": "2026-06-01T15:00:00Z",
        "updated_at": "2026-06-01T15:00:00Z",
        "member_name": _ATTENDEE,
        "member_email": email_of(_ATTENDEE),
    },
    "StaffLead": {
        "id": LEAD_ID,
        "object": "lead",
        "email": "robin.castillo@example.com",
        "first_name": "Robin",
        "source": "partner_api",
        "status": "new",
        "lifecycle_stage": "lead",
        "metadata": {"interest": "pilates"},
        "created_at": "2026-07-01T15:00:00Z",
        "last_name": "Castillo",
        "phone": "+12125550182",
        "notes": "Prefers mornings.",
        "version": 2,
        "updated_at": "2026-07-02T09:00:00Z",
    },
    "Position": {"last_sequence": 4711},
    "Queues": {"data": [{"name": EVENT_LOG.name, "waiting": 0, "parked": 1}]},
    "Parked": {
        "data": [
            {"id": EVENT_ID, "topic": "booking.created", "reason": "It cannot be read.", "body": "{broken"}
        ]
    },
    "Requeue": {"ids": None},
    "Requeued": {"requeued": 1},
}
