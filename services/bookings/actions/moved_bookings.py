"""Bookings and waitlist entries move with their class, with events for both locations."""

from collections.abc import Mapping
from datetime import datetime

from services.bookings.actions.event_builders import booking_event, waitlist_event
from services.bookings.store import bookings, waitlist
from shared.db.database import Connection
from shared.events.changes import with_move_event
from shared.events.event import Event
from shared.events.kinds import BookingUpdated
from shared.http.caller import Caller


async def moved_bookings(
    conn: Connection, caller: Caller, now: datetime, old_locations: Mapping[str, str | None]
) -> list[Event]:
    """`old_locations` are those of classes that may have moved. Their bookings have already been updated."""
    events: list[Event] = []
    for booking, position in await bookings.of_classes(conn, caller, list(old_locations)):
        old = old_locations[booking.class_id]
        if booking.location_id != old:
            event = booking_event(BookingUpdated, caller, booking, now, position=position)
            events += with_move_event(event, old)
    for entry in await waitlist.of_classes(conn, caller, list(old_locations)):
        old = old_locations[entry.class_id]
        if entry.location_id != old:
            events += with_move_event(waitlist_event(caller, entry, now), old)
    return events
