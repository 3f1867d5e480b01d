"""An event as it is made."""

from datetime import UTC, datetime

from msgspec import structs

from shared.events.event import Event, EventResource
from shared.events.kinds import LeadCreated
from shared.wire import new_id, new_id_at

AT = datetime(2026, 3, 8, 9, 30, tzinfo=UTC)


def test_the_id_tells_when_the_event_was_created() -> None:
    """So ids are in the order of time, and fill an index at its end. A changed event keeps its id."""
    lead = EventResource("lead", new_id(), 1)
    event = Event(kind=LeadCreated, studio_id=new_id(), resource=lead, data={}, created_at=AT)
    assert event.id[:13] == new_id_at(AT)[:13]
    assert structs.replace(event, request_id="mine").id == event.id
    assert Event(kind=LeadCreated, studio_id=new_id(), resource=lead, data={}).created_at > AT
