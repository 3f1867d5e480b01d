"""Builds this service's events, with the resource as partners see it."""

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType

from services.bookings.store.bookings import BookingRow
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.classes import Class
from services.bookings.wire.members import Membership
from shared.events.event import Event, Kind
from shared.events.kinds import WaitlistUpdated
from shared.http.caller import Caller

Previous = dict[str, Any] | UnsetType
# Bookings change these all the time, so they are not part of the old values.
COUNTS = ("booked_count", "available_count", "held_count")


def booking_event(
    kind: Kind,
    caller: Caller,
    booking: BookingRow,
    now: datetime,
    *,
    position: int | None = None,
    previous: Previous = UNSET,
) -> Event:
    shown, location = booking.to_wire(position), booking.location_id
    return caller.event(
        kind, booking.id, booking.version, shown, location_id=location, previous=previous, at=now
    )


def waitlist_event(caller: Caller, entry: WaitlistRow, now: datetime) -> Event:
    shown, location = entry.to_wire(), entry.location_id
    return caller.event(WaitlistUpdated, entry.id, entry.version, shown, location_id=location, at=now)


def class_event(
    kind: Kind, caller: Caller, class_: Class, version: int, now: datetime, *, previous: Previous = UNSET
) -> Event:
    location = class_.location_id
    return caller.event(kind, class_.id, version, class_, location_id=location, previous=previous, at=now)


def membership_event(
    kind: Kind, caller: Caller, membership: Membership, *, previous: Previous = UNSET
) -> Event:
    return caller.event(kind, membership.id, membership.state_version, membership, previous=previous)
