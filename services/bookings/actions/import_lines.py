"""How this service's lines are checked, compared and written, and the events of what they change."""

from collections.abc import Awaitable, Callable

import msgspec

from services.bookings.actions.class_changes import WAS_HELD, ClassChanges, promote_waitlist
from services.bookings.actions.end_holds import expire_run_out_holds
from services.bookings.actions.event_builders import COUNTS
from services.bookings.actions.manage_class import release_everybody
from services.bookings.rules.class_times import problem_with_times
from services.bookings.store import import_members, import_seats, studios
from services.bookings.store import import_shown as shown
from services.bookings.store.import_locks import (
    classes_of,
    limit_waits,
    lock_classes_and_members,
    lock_members,
)
from services.bookings.wire import import_lines as wire
from services.bookings.wire.bookings import Booking, BookingStatus
from services.bookings.wire.classes import Class, ClassStatus
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.events import kinds
from shared.events.changes import Snapshot, Snapshots, change_events
from shared.events.event import Event, EventResource, Kind
from shared.http.caller import Caller
from shared.transfer.importing import Import, Step, watch_changes
from shared.transfer.lines import Row, Rows

# The kind of a booking's new status. Any other change of a booking is `booking.updated`.
BY_STATUS = {
    BookingStatus.CONFIRMED: kinds.BookingConfirmed,
    BookingStatus.CANCELLED: kinds.BookingCancelled,
    BookingStatus.CHECKED_IN: kinds.BookingCheckedIn,
    BookingStatus.NO_SHOW: kinds.BookingNoShow,
    BookingStatus.EXPIRED: kinds.BookingExpired,
}


async def lock_seats(conn: Connection, rows: Rows) -> None:
    """The unique indexes know no time, so holds that have run out are expired before anything is written."""
    await lock_classes_and_members(conn, rows)
    for studio_id, class_id in await import_seats.classes_with_run_out_holds(conn, classes_of(rows)):
        await expire_run_out_holds(conn, Caller(studio_id=studio_id, actor="operator"), class_id)


async def watch_seats(conn: Connection, rows: Rows) -> Callable[[], Awaitable[list[Event]]]:
    """Call it under the locks of the classes, and what it returns after everything that the lines cause."""
    named = [{"studio_id": studio_id, "id": class_id} for studio_id, class_id in classes_of(rows)]
    affected = [
        {
            "studio_id": row["studio_id"],
            "id": row["id"],
            "class_id": row.get("class_id") or row["id"],
            "whole": "class_id" not in row,
        }
        for row in rows
    ]
    classes = await shown.shown_classes(conn, named)
    bookings = await shown.shown_bookings(conn, affected)
    entries = await shown.shown_entries(conn, affected)

    async def events() -> list[Event]:
        # Bookings that were promoted or cancelled have left the waitlist, so they are looked up by id.
        waiting = await shown.shown_entries(conn, affected + _keys(entries))
        return [
            *_class_events(classes, await shown.shown_classes(conn, named)),
            *await shown.without_ended_holds(
                conn,
                _booking_events(
                    bookings,
                    await shown.shown_bookings(conn, affected + _keys(bookings)),
                    {row["id"] for row in rows},
                ),
            ),
            *change_events(kinds.WaitlistUpdated, kinds.WaitlistUpdated, entries, waiting),
            *_renamed(entries, waiting),
        ]

    return events


def _keys(seen: Snapshots) -> list[Row]:
    return [{"studio_id": studio_id, "id": id_} for studio_id, id_ in seen]


def _class_events(before: Snapshots, after: Snapshots) -> list[Event]:
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
            Event(
                kind=kind,
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


def _is_cancelled(class_: Snapshot) -> bool:
    return getattr(class_.data, "status", None) is ClassStatus.CANCELLED


def _is_full(class_: Snapshot) -> bool:
    return getattr(class_.data, "available_count", None) == 0


def _booking_events(before: Snapshots, after: Snapshots, named: set[str]) -> list[Event]:
    """Holds that have run out meanwhile are left out, unless a line says so: whoever expires one tells it."""
    held = {key for key, old in before.items() if getattr(old.data, "status", None) is BookingStatus.HELD}
    events = change_events(
        kinds.BookingCreated,
        kinds.BookingUpdated,
        before,
        after,
        special=_booking_status,
        leave_out=("waitlist_position",),
    )
    ends = (kinds.BookingCancelled, kinds.BookingExpired)
    return [
        msgspec.structs.replace(event, previous=WAS_HELD)
        if event.kind in ends and (event.studio_id, event.resource.id) in held
        else event
        for event in events
        if event.kind != kinds.BookingExpired
        or event.resource.id in named
        or (event.studio_id, event.resource.id) not in held
    ]


def _booking_status(old: Booking, now: Booking) -> Kind | None:
    begins = (BookingStatus.CONFIRMED, BookingStatus.WAITLISTED)
    if old.status is BookingStatus.HELD and now.status in begins:
        return kinds.BookingCreated
    return BY_STATUS.get(now.status) if old.status is not now.status else None


def _renamed(before: Snapshots, after: Snapshots) -> list[Event]:
    """For the former id of an entry that its own line has named: `{id, object}`. A GET returns 404."""
    return [
        Event(
            kind=kinds.WaitlistUpdated,
            studio_id=studio_id,
            location_id=old.location_id,
            resource=EventResource("waitlist", entry_id, old.version + 1),
            data={"id": entry_id, "object": "waitlist"},
        )
        for (studio_id, entry_id), old in before.items()
        if (studio_id, entry_id) not in after
    ]


async def reconcile_imported_classes(conn: Connection, rows: Rows) -> None:
    """Promotes into free seats, and cancels the bookings of cancelled classes.

    In the transaction of the lines and under their locks, so that no one ever sees a free seat next to a
    waitlist. The batch's bookings are already written, so that no seat is given twice. `watch_seats` makes
    the events of the whole batch.
    """
    for studio_id, class_id in await import_seats.classes_to_reconcile(conn, classes_of(rows)):
        caller = Caller(studio_id=studio_id, actor="operator")
        changes = await ClassChanges.lock(conn, caller, class_id)
        assert changes is not None
        if changes.class_.status is ClassStatus.CANCELLED:
            await release_everybody(conn, changes, None)
        else:
            await changes.shorten_holds(conn)
            await changes.load_waitlist(conn)
            await promote_waitlist(conn, changes, await studios.policy(conn, caller))
        await changes.save(conn, send_events=False)


def _to_row(value: wire.AnyImported, written: bytes) -> Row:
    """Fills derived fields. Raises ValueError with the reason why the line cannot be used."""
    if isinstance(value, wire.ImportedClass) and (
        problem := problem_with_times(value.start_time, value.end_time)
    ):
        raise ValueError(problem)
    if isinstance(value, wire.ImportedBooking) and value.cancellation and value.status != "cancelled":
        raise ValueError("Only a cancelled booking has a cancellation.")
    if isinstance(value, wire.ImportedBooking) and value.status is BookingStatus.HELD:
        raise ValueError("A hold cannot be imported.")
    if isinstance(value, wire.ImportedMember):
        value.name = value.name if value.name is not None else f"{value.first_name} {value.last_name}".strip()
        try:
            value.email = normalize_email(value.email) if value.email is not None else None
        except ValueError as problem:
            raise ValueError(f"email: {problem}") from None
    row: Row = msgspec.to_builtins(value)
    return row


IMPORT = Import(
    lines=wire.AnyImported,
    to_row=_to_row,
    steps=(
        # The events of copied resources come from the catalog.
        Step(importers=(import_members.STUDIOS,), lock=limit_waits),
        Step(importers=(import_members.LOCATIONS,), lock=limit_waits),
        Step(importers=(import_members.PRODUCTS,), lock=limit_waits),
        Step(
            importers=(import_members.MEMBERS,),
            lock=lock_members("id"),
            watch=watch_changes(shown.shown_members, kinds.MemberCreated, kinds.MemberUpdated),
        ),
        Step(
            importers=(import_members.MEMBERSHIPS,),
            lock=lock_members("member_id"),
            watch=watch_changes(shown.shown_memberships, kinds.MembershipCreated, kinds.MembershipUpdated),
        ),
        Step(
            importers=(import_members.PURCHASES,),
            lock=lock_members("member_id"),
            watch=watch_changes(shown.shown_purchases, kinds.PurchaseCreated, kinds.PurchaseUpdated),
        ),
        # In one transaction with the promotions that follow.
        Step(
            importers=(
                import_seats.CLASSES,
                import_seats.SPOTS,
                import_seats.BOOKINGS,
                import_seats.ENTRIES,
            ),
            lock=lock_seats,
            watch=watch_seats,
            settle=reconcile_imported_classes,
        ),
    ),
    finish=import_seats.analyze_grown,
)
