"""At the desk: check in, undo it, mark a no-show. A seat freed before the start is handed on."""

from services.bookings.actions.promote import promote
from services.bookings.actions.roster import Roster
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition
from services.bookings.rules.transitions import staff_may_move, staff_moves
from services.bookings.store import bookings, studios
from services.bookings.wire.bookings import Booking, BookingStatus
from shared.caller import Caller
from shared.errors import NotFound


async def attend(service: Bookings, caller: Caller, booking_id: str, status: BookingStatus) -> Booking:
    async with service.db.transaction() as conn:
        found = await bookings.read(conn, caller, booking_id)
        roster = await Roster.open(conn, caller, found.class_id) if found else None
        booking = await bookings.read(conn, caller, booking_id)
        if roster is None or booking is None:
            raise NotFound
        if not staff_may_move(booking.status, status):
            raise InvalidStateTransition(booking.status, status, staff_moves(booking.status))
        await roster.load_waiting(conn)
        roster.move(booking, status)
        await promote(conn, roster, await studios.policy(conn, caller))
        await roster.save(conn)
    service.bell.ring()
    return booking.shown()
