"""The events of an import, from what partners saw before and after its lines were written."""

from collections.abc import Awaitable, Callable

from services.bookings.actions.event_builders import COUNTS
from services.bookings.store import import_shown as shown
from services.bookings.store.import_locks import Lines, classes_of
from services.bookings.wire.bookings import Booking, BookingStatus
from services.bookings.wire.classes import Class, ClassStatus
from shared.db.database import Connection
from shared.events import kinds
from shared.events.changes import Shown, ShownById, change_events
from shared.events.event import Event, EventResource, Kind
from shared.events.outbox import add_events

Writer = Callable[[Connection, Lines], Awaitable[None]]
Read = Callable[[Connection, Lines], Awaitable[ShownById]]


def with_events(write: Writer, read: Read, created: Kind, updated: Kind) -> Writer:
    """Runs `write` and adds the events of what it has changed, in the same transaction."""

    async def write_and_tell(conn: Connection, lines: Lines) -> None:
        before = await read(conn, lines)
        await write(conn, lines)
        await add_events(conn, change_events(created, updated, before, await read(conn, lines)))

    return write_and_tell


# The kind of a booking's new status. Any other change of a booking is `booking.updated`.
BY_STATUS = {
    BookingStatus.CONFIRMED: kinds.BookingConfirmed,
    BookingStatus.CANCELLED: kinds.BookingCancelled,
    BookingStatus.CHECKED_IN: kinds.BookingCheckedIn,
    BookingStatus.NO_SHOW: kinds.BookingNoShow,
    BookingStatus.EXPIRED: kinds.BookingExpired,
}


class SeatChanges:
    """The classes, bookings and waitlist entries that a batch of lines may change."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._affected: Lines = []
        self._before: tuple[ShownById, ShownById, ShownById] = {}, {}, {}

    async def read_before(self, conn: Connection) -> None:
        """Call it under the locks of the classes."""
        self._affected = await self._named(conn)
        self._before = await self._read(conn)

    async def _named(self, conn: Connection) -> Lines:
        """The rows of the lines, and the other halves of those that are or were on a waitlist."""
        others = await shown.partners(conn, self._lines)
        return [
            {
                "studio_id": line["studio_id"],
                "id": line["id"],
                "class_id": line.get("class_id") or line["id"],
                "whole": "class_id" not in line,
                "other": others.get((str(line["studio_id"]), str(line["id"])), []),
            }
            for line in self._lines
        ]

    async def add_events(self, conn: Connection) -> None:
        """Call it after everything that the lines have caused."""
        bookings, entries = self._before[1], self._before[2]
        # Bookings that were promoted or cancelled have left the waitlist, so they are looked up by id.
        # Entries that the lines created may have left it too.
        self._affected = await self._named(conn) + [
            {"studio_id": studio, "id": one, "class_id": None, "whole": False, "other": []}
            for studio, one in (*bookings, *entries)
        ]
        classes, now_booked, now_waiting = await self._read(conn)
        await add_events(conn, _class_events(self._before[0], classes))
        await add_events(conn, _booking_events(bookings, now_booked))
        waitlist = change_events(kinds.WaitlistUpdated, kinds.WaitlistUpdated, entries, now_waiting)
        await add_events(conn, [*waitlist, *_gone(kinds.WaitlistUpdated, entries, now_waiting)])

    async def _read(self, conn: Connection) -> tuple[ShownById, ShownById, ShownById]:
        return (
            await shown.shown_classes(conn, classes_of(self._lines)),
            await shown.shown_bookings(conn, self._affected),
            await shown.shown_entries(conn, self._affected),
        )


def _class_events(before: ShownById, after: ShownById) -> list[Event]:
    result = change_events(
        kinds.ClassCreated,
        kinds.ClassUpdated,
        before,
        after,
        special=_class_cancelled,
        leave_out=COUNTS,
    )
    for key, now in after.items():
        old = before.get(key)
        if old is None or _is_cancelled(now) or _is_full(old) == _is_full(now):
            continue
        kind = kinds.ClassFull if _is_full(now) else kinds.ClassReopened
        result.append(
            kind(
                studio_id=key[0],
                location_id=now.location_id,
                resource=EventResource("class", key[1], now.version),
                data=now.data,
            )
        )
    return result


def _class_cancelled(old: Class, now: Class) -> Kind | None:
    """Whatever else the line changed."""
    is_new = old.status is not now.status and now.status is ClassStatus.CANCELLED
    return kinds.ClassCancelled if is_new else None


def _is_cancelled(class_: Shown) -> bool:
    return getattr(class_.data, "status", None) is ClassStatus.CANCELLED


def _is_full(class_: Shown) -> bool:
    return getattr(class_.data, "available_count", None) == 0


def _booking_events(before: ShownById, after: ShownById) -> list[Event]:
    events = change_events(
        kinds.BookingCreated,
        kinds.BookingUpdated,
        before,
        after,
        special=_booking_status,
        leave_out=("waitlist_position",),
    )
    return [*events, *_gone(kinds.BookingUpdated, before, after)]


def _booking_status(old: Booking, now: Booking) -> Kind | None:
    return BY_STATUS.get(now.status) if old.status is not now.status else None


def _gone(kind: Kind, before: ShownById, after: ShownById) -> list[Event]:
    """For a placeholder that its own line has replaced: `{id, object}`. A GET returns 404."""
    return [
        kind(
            studio_id=studio_id,
            location_id=old.location_id,
            resource=EventResource(kind.resource, resource_id, old.version + 1),
            data={"id": resource_id, "object": kind.resource},
        )
        for (studio_id, resource_id), old in before.items()
        if (studio_id, resource_id) not in after
    ]
