"""Staff create, change and cancel a class, and record who came."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from services.bookings.actions.class_changes import ClassChanges, promote_waitlist
from services.bookings.actions.end_holds import expire_run_out_holds
from services.bookings.actions.event_builders import COUNTS, booking_event, class_event, waitlist_event
from services.bookings.actions.lock_by_booking import begins_anew, lock_class_of
from services.bookings.context import Bookings
from services.bookings.errors import (
    AlreadyBooked,
    AlreadyHeld,
    BookingHeld,
    ClassExists,
    InvalidStateTransition,
)
from services.bookings.rules.booking_decision import assign_spot
from services.bookings.rules.cancellation import terms_by_studio
from services.bookings.rules.class_times import time_problems
from services.bookings.rules.transitions import LIVE, SEATED, staff_moves
from services.bookings.store import bookings, classes, locks, studios, waitlist
from services.bookings.store.bookings import BookingRow
from services.bookings.wire.bookings import Booking, BookingStatus
from services.bookings.wire.classes import Class, ClassChange, ClassCreate, ClassStatus
from shared.db.database import Connection
from shared.errors import Invalid, NotFound, Problem
from shared.events.changes import previous_values, with_move_event
from shared.events.event import Event
from shared.events.kinds import (
    BookingCheckedIn,
    BookingNoShow,
    BookingUpdated,
    ClassCancelled,
    ClassCreated,
    ClassUpdated,
)
from shared.events.outbox import add_event, add_events
from shared.http.caller import Caller
from shared.http.routes import PartialBody
from shared.wire import new_id, now


async def check_new_class(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    start, end = given.fields.get("start_time"), given.fields.get("end_time")
    return time_problems(start, end) if start and end else []


async def create_class(service: Bookings, caller: Caller, body: ClassCreate) -> Class:
    values = msgspec.structs.asdict(body)
    class_id: str = values.pop("id") or new_id()
    async with service.db.transaction() as conn:
        if not await classes.insert(conn, caller, class_id, values):
            raise ClassExists(param="id")
        class_ = await classes.get(conn, caller, class_id)
        await add_event(conn, class_event(ClassCreated, caller, class_, 1, now()))
    service.wakeup.notify()
    return class_


async def change_class(service: Bookings, caller: Caller, class_id: str, body: ClassChange) -> Class:
    values = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    async with service.db.transaction() as conn:
        before = await locks.lock_class(conn, caller, class_id)
        if before is None:
            raise NotFound
        shown = await classes.get(conn, caller, class_id)
        _check_change(shown, values)
        await classes.change(conn, caller, class_id, values)
        changes = await ClassChanges.lock(conn, caller, class_id)
        assert changes is not None
        changes.was_full = before.class_.seats_left <= before.class_.holds_due
        await changes.shorten_holds(conn)
        if shown.location_id != changes.class_.location_id:
            left = {class_id: shown.location_id}
            await add_events(conn, await moved_bookings(conn, caller, changes.now, left))
        await changes.load_waitlist(conn)
        await promote_waitlist(conn, changes, await studios.policy(conn, caller))
        await changes.save(conn, class_event_follows=True)
        response = await classes.get(conn, caller, class_id)
        if previous := previous_values(shown, response, COUNTS):
            version, now = changes.class_.version, changes.now
            event = class_event(ClassUpdated, caller, response, version, now, previous=previous)
            await add_events(conn, with_move_event(event, shown.location_id))
    service.wakeup.notify()
    return response


def _check_change(class_: Class, values: dict[str, Any]) -> None:
    if class_.status == ClassStatus.CANCELLED:
        raise InvalidStateTransition(class_.status, values.get("status", "scheduled"), [])
    times = values.get("start_time", class_.start_time), values.get("end_time", class_.end_time)
    if problems := time_problems(*times):
        raise Invalid(problems)


async def moved_bookings(
    conn: Connection, caller: Caller, now: datetime, old_locations: Mapping[str, str | None]
) -> list[Event]:
    """`old_locations` are those of classes that may have moved. Their bookings have already been updated.

    Holds that have ended are in no list without a status, and are told no more.
    """
    events: list[Event] = []
    for booking, position in await bookings.of_classes(conn, caller, list(old_locations)):
        old = old_locations[booking.class_id]
        ended = booking.only_held and booking.status is not BookingStatus.HELD
        if booking.location_id != old and not ended:
            event = booking_event(BookingUpdated, caller, booking, now, position=position)
            events += with_move_event(event, old)
    for entry in await waitlist.of_classes(conn, caller, list(old_locations)):
        old = old_locations[entry.class_id]
        if entry.location_id != old:
            events += with_move_event(waitlist_event(caller, entry, now), old)
    return events


async def cancel_class(service: Bookings, caller: Caller, class_id: str, reason: str | None) -> Class:
    async with service.db.transaction() as conn:
        changes = await ClassChanges.lock(conn, caller, class_id)
        if changes is None:
            raise NotFound
        if changes.class_.status is not ClassStatus.SCHEDULED:
            raise InvalidStateTransition(changes.class_.status, ClassStatus.CANCELLED, [])
        await release_everybody(conn, changes, reason)
        changes.class_ = msgspec.structs.replace(changes.class_, status=ClassStatus.CANCELLED)
        await changes.save(conn)
        class_ = await classes.get(conn, caller, class_id)
        version = changes.class_.version
        await add_event(conn, class_event(ClassCancelled, caller, class_, version, changes.now))
    service.wakeup.notify()
    return class_


async def release_everybody(conn: Connection, changes: ClassChanges, reason: str | None) -> None:
    policy = await studios.policy(conn, changes.caller)
    await changes.load_waitlist(conn)
    found = await bookings.read_live(conn, changes.caller, changes.class_.id)
    live = [changes.bookings.setdefault(booking.id, booking) for booking in found]
    await changes.lock_members(conn, {booking.member_id for booking in live})
    for booking in live:
        if booking.status in LIVE:
            terms = terms_by_studio(booking.to_cancel(changes.class_.start_time), policy, changes.now)
            changes.cancel(booking, terms, reason)


KINDS = {BookingStatus.CHECKED_IN: BookingCheckedIn, BookingStatus.NO_SHOW: BookingNoShow}


@begins_anew
async def record_attendance(
    service: Bookings, caller: Caller, booking_id: str, status: BookingStatus
) -> Booking:
    async with service.db.transaction() as conn:
        changes, booking = await lock_class_of(conn, caller, booking_id)
        if booking.status is BookingStatus.HELD and status is BookingStatus.CHECKED_IN:
            raise BookingHeld(details={"held_until": booking.held_until})
        allowed = staff_moves(booking.status, changes.class_, changes.now)
        if status not in allowed:
            raise InvalidStateTransition(booking.status, status, list(allowed))
        if changes.has_changes and booking.status not in SEATED:
            # A hold of the same member may have run out: it has to be written before they have a seat again.
            await expire_run_out_holds(conn, caller, booking.class_id)
            changes, booking = await lock_class_of(conn, caller, booking_id)
        await changes.load_waitlist(conn)
        before = booking.to_wire()
        if booking.status not in SEATED and status in SEATED:
            await _seat_again(conn, changes, booking)
        changes.set_status(booking, status)
        _tell(changes, before, booking)
        await promote_waitlist(conn, changes, await studios.policy(conn, caller))
        await changes.save(conn)
    service.wakeup.notify()
    return booking.to_wire()


def _tell(changes: ClassChanges, before: Booking, booking: BookingRow) -> None:
    if booking.status is BookingStatus.CONFIRMED:
        changes.add_event(BookingUpdated, booking, previous_values(before, booking.to_wire()))
    else:
        changes.add_event(KINDS[booking.status], booking)


async def _seat_again(conn: Connection, changes: ClassChanges, booking: BookingRow) -> None:
    """A no-show who turns up after all: by now the member may have booked again, or the spot may be taken."""
    live = await bookings.live_of_member(
        conn, changes.caller, booking.class_id, booking.member_id, changes.now
    )
    if live is not None:
        held = live.status is BookingStatus.HELD
        raise (AlreadyHeld if held else AlreadyBooked)(details={"booking_id": live.id})
    if booking.class_spot_id is None:
        return
    spots = await changes.read_spots(conn)
    if any(spot.id == booking.class_spot_id and spot.taken for spot in spots):
        booking.class_spot_id = assign_spot(changes.class_.spot_selection_mode, spots, wished=None)
