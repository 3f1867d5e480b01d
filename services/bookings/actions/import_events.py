"""The events of imported classes, bookings and waitlist entries: what partners saw before and after."""

from collections.abc import Awaitable, Callable

from services.bookings.actions.event_builders import COUNTS
from services.bookings.store import import_shown as shown
from services.bookings.store.import_locks import classes_of
from services.bookings.wire.bookings import Booking, BookingStatus
from services.bookings.wire.classes import Class, ClassStatus
from shared.db.database import Connection
from shared.events import kinds
from shared.events.changes import Shown, ShownById, change_events
from shared.events.event import Event, EventResource, Kind
from shared.transfer.importing import Row, Rows

# The kind of a booking's new status. Any other change of a booking is `booking.updated`.
BY_STATUS = {
    BookingStatus.CONFIRMED: kinds.BookingConfirmed,
    BookingStatus.CANCELLED: kinds.BookingCancelled,
    BookingStatus.CHECKED_IN: kinds.BookingCheckedIn,
    BookingStatus.NO_SHOW: kinds.BookingNoShow,
    BookingStatus.EXPIRED: kinds.BookingExpired,
}


async def watch_seats(conn: Connection, rows: Rows) -> Callable[[], Awaitable[list[Event]]]:
    """Call it under the locks of the classes, and what it returns after everything that the lines cause."""
    classes, bookings, entries = await _read(conn, rows, await _affected(conn, rows))

    async def events() -> list[Event]:
        # Bookings that were promoted or cancelled have left the waitlist, so they are looked up by id.
        # Entries that the lines created may have left it too.
        affected = await _affected(conn, rows)
        affected += [
            {"studio_id": studio, "id": one, "class_id": None, "whole": False, "other": []}
            for studio, one in (*bookings, *entries)
        ]
        now_classes, now_booked, now_waiting = await _read(conn, rows, affected)
        return [
            *_class_events(classes, now_classes),
            *_booking_events(bookings, now_booked),
            *change_events(kinds.WaitlistUpdated, kinds.WaitlistUpdated, entries, now_waiting),
            *_renamed(entries, now_waiting),
        ]

    return events


async def _affected(conn: Connection, rows: Rows) -> list[Row]:
    """The rows of the lines, and the other halves of those that are or were on a waitlist."""
    others = await shown.other_halves(conn, rows)
    return [
        {
            "studio_id": row["studio_id"],
            "id": row["id"],
            "class_id": row.get("class_id") or row["id"],
            "whole": "class_id" not in row,
            "other": others.get((row["studio_id"], row["id"]), []),
        }
        for row in rows
    ]


async def _read(conn: Connection, rows: Rows, affected: Rows) -> tuple[ShownById, ShownById, ShownById]:
    return (
        await shown.shown_classes(conn, classes_of(rows)),
        await shown.shown_bookings(conn, affected),
        await shown.shown_entries(conn, affected),
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
    return change_events(
        kinds.BookingCreated,
        kinds.BookingUpdated,
        before,
        after,
        special=_booking_status,
        leave_out=("waitlist_position",),
    )


def _booking_status(old: Booking, now: Booking) -> Kind | None:
    return BY_STATUS.get(now.status) if old.status is not now.status else None


def _renamed(before: ShownById, after: ShownById) -> list[Event]:
    """For the former id of an entry that its own line has named: `{id, object}`. A GET returns 404."""
    return [
        kinds.WaitlistUpdated(
            studio_id=studio_id,
            location_id=old.location_id,
            resource=EventResource("waitlist", entry_id, old.version + 1),
            data={"id": entry_id, "object": "waitlist"},
        )
        for (studio_id, entry_id), old in before.items()
        if (studio_id, entry_id) not in after
    ]
