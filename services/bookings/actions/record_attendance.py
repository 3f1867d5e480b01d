"""Check a member in, undo it, or mark a no-show once the class has started."""

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.promote_waitlist import promote_waitlist
from services.bookings.context import Bookings
from services.bookings.errors import AlreadyBooked, InvalidStateTransition
from services.bookings.rules.booking_decision import assign_spot
from services.bookings.rules.transitions import SEATED, staff_moves
from services.bookings.store import bookings, locks, studios
from services.bookings.store.booking_row import BookingRow
from services.bookings.wire.bookings import Booking, BookingStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.events.changes import previous_values
from shared.events.kinds import BookingCheckedIn, BookingNoShow, BookingUpdated
from shared.http.caller import Caller

KINDS = {BookingStatus.CHECKED_IN: BookingCheckedIn, BookingStatus.NO_SHOW: BookingNoShow}


async def record_attendance(
    service: Bookings, caller: Caller, booking_id: str, status: BookingStatus
) -> Booking:
    async with service.db.transaction() as conn:
        found = await bookings.read(conn, caller, booking_id)
        changes = await ClassChanges.lock(conn, caller, found.class_id) if found else None
        booking = await bookings.read(conn, caller, booking_id)
        if changes is None or booking is None:
            raise NotFound
        allowed = staff_moves(booking.status, changes.class_, changes.now)
        if status not in allowed:
            raise InvalidStateTransition(booking.status, status, list(allowed))
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
    live = await bookings.live_of_member(conn, changes.caller, booking.class_id, booking.member_id)
    if live is not None:
        raise AlreadyBooked(details={"booking_id": live})
    if booking.class_spot_id is None:
        return
    spots = await locks.read_spots(conn, changes.caller, booking.class_id)
    if any(spot.id == booking.class_spot_id and spot.taken for spot in spots):
        booking.class_spot_id = assign_spot(changes.class_.spot_selection_mode, spots, wished=None)
