"""Builds the events of a booking and of a waitlist entry, with the resource as partners see it."""

from datetime import datetime

from services.bookings.store.booking_row import BookingRow
from services.bookings.store.waitlist_row import WaitlistRow
from shared.events.event import Event, EventResource, Kind
from shared.events.kinds import WaitlistUpdated
from shared.http.caller import Caller


def booking_event(
    kind: Kind, caller: Caller, booking: BookingRow, now: datetime, *, position: int | None = None
) -> Event:
    return kind(
        studio_id=caller.studio_id,
        location_id=booking.location_id,
        resource=EventResource("booking", booking.id, booking.version),
        data=booking.to_wire(position),
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
        aggregate=f"class:{booking.class_id}",
        created_at=now,
    )


def waitlist_event(caller: Caller, entry: WaitlistRow, now: datetime) -> Event:
    return WaitlistUpdated(
        studio_id=caller.studio_id,
        location_id=entry.location_id,
        resource=EventResource("waitlist", entry.id, entry.version),
        data=entry.to_wire(),
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
        aggregate=f"class:{entry.class_id}",
        created_at=now,
    )
