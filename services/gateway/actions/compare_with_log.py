"""Every committed event is in an outbox or in the log. This finds out which overdue events the log has.

The outboxes and the log are in schemas of different services, so the gateway asks both.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.wire.status import Unacknowledged
from shared.errors import DomainError

LOG = "webhooks"
KNOWN = "/internal/events/known"


async def compare_with_log(
    context: OperatorContext, services: Mapping[str, Mapping[str, Any]], request_id: str
) -> list[Unacknowledged]:
    """Empty if no studio has overdue events; then the log is not queried."""
    overdue = [
        (name, studio)
        for name, state in services.items()
        for studio in state.get("figures", {}).get("overdue_studios", ())
    ]
    if not overdue:
        return []
    lookups = [
        {"studio_id": studio["studio_id"], "event_id": event_id}
        for _, studio in overdue
        for event_id in studio["event_ids"]
    ]
    known = await _known(context, lookups, request_id)
    return [_compared(name, studio, known) for name, studio in overdue]


async def _known(
    context: OperatorContext, lookups: list[dict[str, str]], request_id: str
) -> frozenset[str] | None:
    """None if the log does not answer: it is unavailable, or of an older version."""
    body = msgspec.json.encode({"events": lookups})
    try:
        answer = await context.call_service(LOG, "POST", KNOWN, request_id=request_id, body=body)
    except DomainError:
        return None
    return frozenset(msgspec.json.decode(answer.body)["event_ids"]) if answer.status == 200 else None


def _compared(service: str, studio: Mapping[str, Any], known: frozenset[str] | None) -> Unacknowledged:
    ids = studio["event_ids"]
    return Unacknowledged(
        service=service,
        studio_id=studio["studio_id"],
        waiting=studio["waiting"],
        in_flight=studio["in_flight"],
        parked=studio["parked"],
        compared=len(ids) if known is not None else 0,
        logged=sum(event_id in known for event_id in ids) if known is not None else 0,
    )
