"""Locks the class that a booking is in, although the booking may be moved to another class at any moment."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.store import bookings, locks
from services.bookings.store.bookings import BookingRow
from services.bookings.store.locks import LockedClass
from services.bookings.wire.bookings import BookingStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller

P = ParamSpec("P")
T = TypeVar("T")


class Outdated(Exception):
    """What was read before the locks is no longer true."""


def begins_anew(action: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Repeats an action that was `Outdated`. Its transaction has been rolled back and holds no lock."""

    @wraps(action)
    async def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        while True:
            try:
                return await action(*args, **kwargs)
            except Outdated:
                continue

    return repeated


async def lock_class_of(conn: Connection, caller: Caller, booking_id: str) -> tuple[ClassChanges, BookingRow]:
    """The class of a booking, locked, and the booking as it is under that lock.

    The booking may have been moved to another class while we waited, so every caller `begins_anew`.
    """
    found = await bookings.read(conn, caller, booking_id)
    changes = await ClassChanges.lock(conn, caller, found.class_id) if found else None
    booking = await bookings.read(conn, caller, booking_id)
    if changes is None or booking is None:
        raise NotFound
    if booking.class_id != changes.class_.id:
        raise Outdated
    return changes, changes.bookings.setdefault(booking.id, booking)


async def read_with_class(
    conn: Connection, caller: Caller, booking_id: str
) -> tuple[BookingRow, LockedClass]:
    """The same without a lock, for a preview. A hold that has run out is expired, written or not."""
    booking = await bookings.read(conn, caller, booking_id)
    class_ = await locks.read_class(conn, caller, booking.class_id) if booking else None
    if booking is None or class_ is None:
        raise NotFound
    if booking.has_run_out(class_.now):
        booking.status = BookingStatus.EXPIRED
    return booking, class_


async def lock_for_move(
    conn: Connection, caller: Caller, booking_id: str, class_id: str
) -> tuple[ClassChanges, ClassChanges, BookingRow]:
    """The same for a move, with the class that the booking goes to."""
    found = await bookings.read(conn, caller, booking_id)
    if found is None:
        raise NotFound
    locked = await locks.lock_classes(conn, caller, (found.class_id, class_id))
    booking = await bookings.read(conn, caller, booking_id)
    if booking is None:
        raise NotFound
    if booking.class_id != found.class_id:
        raise Outdated
    if class_id not in locked or not caller.may_see(locked[class_id].class_.location_id):
        raise NotFound(param="class_id")
    old = await ClassChanges.of_locked(conn, caller, locked[found.class_id])
    new = await ClassChanges.of_locked(conn, caller, locked[class_id])
    return old, new, old.bookings.setdefault(booking.id, booking)
