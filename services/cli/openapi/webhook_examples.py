"""Examples of webhook endpoints, deliveries and events."""

from typing import Any

from services.cli.demo.studio import STUDIO_ID, demo_id
from services.cli.demo.timetable import DELIVERY_ID, ENDPOINT_ID, EVENT_ID, RECOVERY_ID
from shared.wire import API_VERSION

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
