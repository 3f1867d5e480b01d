"""Upserts the lines of a batch that change something, with their events, and reports unusable lines."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from services.bookings.actions.import_events import SeatChanges, Writer, with_events
from services.bookings.actions.reconcile_imported_classes import reconcile_imported_classes
from services.bookings.context import Bookings
from services.bookings.rules.class_times import problem_with_times
from services.bookings.rules.import_refusals import refusals
from services.bookings.store import (
    import_bookings,
    import_classes,
    import_locks,
    import_members,
    import_shown,
    import_studio_copies,
    import_waitlist,
    studios,
)
from services.bookings.store.import_changes import CHANGED, changed
from services.bookings.store.import_known import read_known
from services.bookings.store.import_locks import LOCK_MEMBERS, Lines
from services.bookings.store.purchases import grant_credits
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.events import kinds
from shared.http.import_phones import refuse_phones
from shared.http.importing import (
    Decoded,
    ImportLine,
    ImportReport,
    Rejected,
    Write,
    apply_lines,
    changed_lines,
    usable_lines,
)

# An import gives up its locks, and answers 503, rather than make partners wait behind what it waits for.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '3s'"


async def import_lines(
    service: Bookings, lines: Sequence[ImportLine], *, send_events: bool = True
) -> ImportReport:
    usable, rejected = await _usable(service, lines)
    for kind, lock, write in WRITERS:
        write = WRITERS_WITH_EVENTS.get(kind, write) if send_events else write
        if group := _of_kind(usable, kind):
            async with service.db.transaction() as conn:
                await conn.execute(LOCK_TIMEOUT)
                if lock is not None:
                    await lock(conn, _rows(group))
                good, refused = await _refuse(conn, group)
                rejected += refused + await apply_lines(conn, good, _of_rows(write))
    rejected += await _import_seats(service, usable, send_events=send_events)
    service.wakeup.notify()
    return ImportReport(imported=len(lines) - len(rejected), rejected=rejected)


async def check_lines(service: Bookings, lines: Sequence[ImportLine]) -> ImportReport:
    """The dry run. It neither locks nor writes, so partners do not notice it."""
    usable, rejected = await _usable(service, lines)
    async with service.db.connection() as conn:
        _, refused = await _refuse(conn, usable)
    rejected += refused
    return ImportReport(imported=len(lines) - len(rejected), rejected=rejected)


async def _usable(
    service: Bookings, lines: Sequence[ImportLine]
) -> tuple[list[Decoded[Any]], list[Rejected]]:
    """The lines that can be read and change something, and the unreadable ones.

    Referenced kinds go first, so that the lines of a batch may come in any order.
    """
    decoded, rejected = usable_lines(wire.AnyImported, lines, _fill_and_check)

    async def regions_of(studio_ids: set[str]) -> dict[str, str]:
        async with service.db.connection() as conn:
            timezones = await studios.timezones_of(conn, studio_ids)
        for line in _of_kind(decoded, wire.ImportedStudio):
            timezones[line.value.id] = line.value.timezone
        return {
            studio: service.regions[zone] for studio, zone in timezones.items() if zone in service.regions
        }

    usable: list[Decoded[Any]] = []
    for kind in (*(kind for kind, _, _ in WRITERS), *(kind for kind, _ in SEAT_WRITERS)):
        group = _of_kind(decoded, kind)
        if kind is wire.ImportedMember:
            group, refused = await refuse_phones(group, lambda member: member.phone, regions_of)
            rejected += refused
        usable += await _changed(service, kind, group)
    return usable, rejected


async def _changed(service: Bookings, kind: type[Any], group: list[Decoded[Any]]) -> Sequence[Decoded[Any]]:
    """Without the lines that change nothing. Copies of studios and locations are compared when written."""
    if kind not in CHANGED:
        return group

    async def compare(conn: Connection, lines: Sequence[Decoded[Any]]) -> list[int]:
        return await changed(conn, kind, _rows(lines))

    return await changed_lines(service.db, group, compare)


async def _refuse(
    conn: Connection, lines: Sequence[Decoded[Any]]
) -> tuple[list[Decoded[Any]], list[Rejected]]:
    """Decides all lines from one look at the stored rows: to find them by failed writes costs far more."""
    given = [(line.studio_id, line.value) for line in lines]
    reasons = refusals(await read_known(conn, given), given)
    found = list(zip(lines, reasons, strict=True))
    return (
        [line for line, reason in found if reason is None],
        [Rejected(line.number, reason) for line, reason in found if reason is not None],
    )


async def _import_seats(
    service: Bookings, usable: Sequence[Decoded[Any]], *, send_events: bool
) -> list[Rejected]:
    """Classes, spots, bookings and waitlist entries, in one transaction with the promotions that follow."""
    lines = [line for kind, _ in SEAT_WRITERS for line in _of_kind(usable, kind)]
    if not lines:
        return []
    async with service.db.transaction() as conn:
        await conn.execute(LOCK_TIMEOUT)
        await import_locks.lock_classes_and_members(conn, _rows(lines))
        good, rejected = await _refuse(conn, lines)
        rows = _rows(good)
        changes = SeatChanges(rows)
        if send_events:
            await changes.read_before(conn)
        for kind, write in SEAT_WRITERS:
            rejected += await apply_lines(conn, _of_kind(good, kind), _of_rows(write))
        await reconcile_imported_classes(conn, rows)
        if send_events:
            await changes.add_events(conn)
    return rejected


def _of_kind(lines: Sequence[Decoded[Any]], kind: type[Any]) -> list[Decoded[Any]]:
    return [line for line in lines if isinstance(line.value, kind)]


Locker = Callable[[Connection, Lines], Awaitable[None]]


def _of_rows(write: Writer) -> Write[Any]:
    return lambda conn, lines: write(conn, _rows(lines))


def _rows(lines: Sequence[Decoded[Any]]) -> Lines:
    return [msgspec.to_builtins(line.value) | {"studio_id": line.studio_id} for line in lines]


def _lock(statement: str, column: str) -> Locker:
    async def locker(conn: Connection, lines: Lines) -> None:
        rows = {(str(line["studio_id"]), str(line[column])) for line in lines}
        await import_locks.lock_rows(conn, statement, rows)

    return locker


async def _write_products(conn: Connection, lines: Lines) -> None:
    await import_studio_copies.write_products(conn, lines)
    members = await import_members.members_waiting_for(conn, lines)
    await import_locks.lock_rows(conn, LOCK_MEMBERS, members)
    for studio_id in {studio for studio, _ in members}:
        await grant_credits(conn, studio_id, [member for studio, member in members if studio == studio_id])


def _fill_and_check(value: wire.AnyImported) -> str | None:
    """Fills derived fields. Returns why the line cannot be used, or None."""
    if isinstance(value, wire.ImportedClass):
        return problem_with_times(value.start_time, value.end_time)
    if isinstance(value, wire.ImportedBooking) and value.cancellation and value.status != "cancelled":
        return "Only a cancelled booking has a cancellation."
    if isinstance(value, wire.ImportedMember):
        value.name = value.name if value.name is not None else f"{value.first_name} {value.last_name}".strip()
        try:
            value.email = normalize_email(value.email) if value.email is not None else None
        except ValueError as problem:
            return f"email: {problem}"
    return None


WRITERS: tuple[tuple[type[Any], Locker | None, Writer], ...] = (
    (wire.ImportedStudio, None, import_studio_copies.write_studios),
    (wire.ImportedLocation, None, import_studio_copies.write_locations),
    (wire.ImportedProduct, None, _write_products),
    (wire.ImportedMember, _lock(LOCK_MEMBERS, "id"), import_members.write_members),
    (wire.ImportedMembership, _lock(LOCK_MEMBERS, "member_id"), import_members.write_memberships),
    (wire.ImportedPurchase, _lock(LOCK_MEMBERS, "member_id"), import_members.write_purchases),
)
# SeatChanges creates the other events; those of copied resources come from the catalog.
WRITERS_WITH_EVENTS: dict[type[Any], Writer] = {
    wire.ImportedMember: with_events(
        import_members.write_members, import_shown.shown_members, kinds.MemberCreated, kinds.MemberUpdated
    ),
    wire.ImportedMembership: with_events(
        import_members.write_memberships,
        import_shown.shown_memberships,
        kinds.MembershipCreated,
        kinds.MembershipUpdated,
    ),
    wire.ImportedPurchase: with_events(
        import_members.write_purchases,
        import_shown.shown_purchases,
        kinds.PurchaseCreated,
        kinds.PurchaseUpdated,
    ),
}
SEAT_WRITERS: tuple[tuple[type[Any], Writer], ...] = (
    (wire.ImportedClass, import_classes.write_classes),
    (wire.ImportedSpot, import_classes.write_spots),
    (wire.ImportedBooking, import_bookings.write_bookings),
    (wire.ImportedEntry, import_waitlist.write_entries),
)
