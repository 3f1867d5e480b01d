"""Hand-written examples of the operators' API: bodies and responses."""

from typing import Any, Final

import msgspec

from services.cli.demo.people import NEWCOMER, email_of, member_id
from services.cli.demo.studio import BROOKLYN, STUDIO_ID, demo_id
from services.cli.demo.timetable import EVENT_ID, KEY_ID, OPEN_CLASS, STAFF_TOKEN_ID, attending
from services.cli.openapi.written_examples import BOOKING_ID, LEAD_ID, MEMBER_ID
from shared.events.bus import EVENT_LOG

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
_WHO: Final = attending(OPEN_CLASS)[0]
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
        "member_id": member_id(_WHO),
        "status": "confirmed",
        "booking_source": "partner_api",
        "class_spot_id": None,
        "waitlist_position": None,
        "created_at": "2026-06-01T15:00:00Z",
        "updated_at": "2026-06-01T15:00:00Z",
        "member_name": _WHO,
        "member_email": email_of(_WHO),
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
