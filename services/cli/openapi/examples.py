"""Examples. Resources come from the demo studio, so that readers can try them; the rest are hand-written."""

from datetime import date
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from services.bookings.wire.bookings import Booking
from services.cli.demo import demo_lines
from services.cli.openapi.request_examples import EXAMPLES
from services.cli.openapi.webhook_examples import WEBHOOK_EXAMPLES, event_example
from services.webhooks.wire.event_types import EventTypeTable
from services.webhooks.wire.events import EventPage, EventRead
from shared.events.kinds import BookingCreated
from shared.http.pages import Page

DAY = date(2026, 8, 3)


def example_of(kind: Any) -> Any:
    """None if there is no example."""
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
    written = EXAMPLES | WEBHOOK_EXAMPLES
    if origin.__name__ in written:
        return written[origin.__name__]
    tag = next((field.default for field in msgspec.structs.fields(origin) if field.name == "object"), None)
    line = _first_lines().get(tag) if isinstance(tag, str) else None
    if line is None:
        return None
    return msgspec.json.decode(
        msgspec.json.encode(msgspec.json.decode(msgspec.json.encode(line), type=origin))
    )


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
