"""At the desk: check in, undo it, and from the class's start on mark a no-show."""

from services.bookings.actions.promote import promote
from services.bookings.actions.roster import Roster
from services.bookings.context import Bookings
from services.bookings.errors import AlreadyBooked, InvalidStateTransition
from services.bookings.rules.booking import assign_spot
from services.bookings.rules.transitions import SEATED, staff_moves
from services.bookings.store import bookings, locks, studios
from services.bookings.store.rows import BookingRow
from services.bookings.wire.bookings import Booking, BookingStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller


async def attend(service: Bookings, caller: Caller, booking_id: str, status: BookingStatus) -> Booking:
    async with service.db.transaction() as conn:
        found = await bookings.read(conn, caller, booking_id)
        roster = await Roster.open(conn, caller, found.class_id) if found else None
        booking = await bookings.read(conn, caller, booking_id)
        if roster is None or booking is None:
            raise NotFound
        allowed = staff_moves(booking.status, roster.class_, roster.now)
        if status not in allowed:
            raise InvalidStateTransition(booking.status, status, list(allowed))
        await roster.load_waiting(conn)
        if booking.status not in SEATED and status in SEATED:
            await _seat_again(conn, roster, booking)
        roster.move(booking, status)
        await promote(conn, roster, await studios.policy(conn, caller))
        await roster.save(conn)
    service.wakeup.notify()
    return booking.shown()


async def _seat_again(conn: Connection, roster: Roster, booking: BookingRow) -> None:
    """A no-show who turns up: since then the member may have booked again, or the spot gone to another."""
    live = await bookings.live_of_member(conn, roster.caller, booking.class_id, booking.member_id)
    if live is not None:
        raise AlreadyBooked(details={"booking_id": live})
    if booking.class_spot_id is None:
        return
    spots = await locks.read_spots(conn, roster.caller, booking.class_id)
    if any(spot.id == booking.class_spot_id and spot.taken for spot in spots):
        booking.class_spot_id = assign_spot(roster.class_.spot_selection_mode, spots, wished=None)
