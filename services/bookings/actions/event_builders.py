"""Builds this service's events, with the resource as partners see it."""

from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType

from services.bookings.store.booking_row import BookingRow
from services.bookings.store.waitlist_row import WaitlistRow
from services.bookings.wire.classes import Class
from services.bookings.wire.memberships import Membership
from services.bookings.wire.purchases import Purchase
from shared.events.event import Event, EventResource, Kind
from shared.events.kinds import WaitlistUpdated
from shared.http.caller import Caller

Previous = dict[str, Any] | UnsetType
# Bookings change these all the time, so they are not part of the old values.
COUNTS = ("booked_count", "available_count")


def booking_event(
    kind: Kind,
    caller: Caller,
    booking: BookingRow,
    now: datetime,
    *,
    position: int | None = None,
    previous: Previous = UNSET,
) -> Event:
    return kind(
        studio_id=caller.studio_id,
        location_id=booking.location_id,
        resource=EventResource("booking", booking.id, booking.version),
        data=booking.to_wire(position),
        previous=previous,
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
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
        created_at=now,
    )


def class_event(
    kind: Kind, caller: Caller, class_: Class, version: int, now: datetime, *, previous: Previous = UNSET
) -> Event:
    return kind(
        studio_id=caller.studio_id,
        location_id=class_.location_id,
        resource=EventResource("class", class_.id, version),
        data=class_,
        previous=previous,
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
        created_at=now,
    )


def membership_event(
    kind: Kind, caller: Caller, membership: Membership, *, previous: Previous = UNSET
) -> Event:
    return kind(
        studio_id=caller.studio_id,
        resource=EventResource("membership", membership.id, membership.state_version),
        data=membership,
        previous=previous,
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
    )


def purchase_event(
    kind: Kind, caller: Caller, purchase: Purchase, version: int, location_id: str | None
) -> Event:
    return kind(
        studio_id=caller.studio_id,
        location_id=location_id,
        resource=EventResource("purchase", purchase.id, version),
        data=purchase,
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
    )
