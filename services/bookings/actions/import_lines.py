"""How this service's lines are checked, compared and written, and the events of what they change."""

from collections.abc import Sequence
from typing import Any

import msgspec

from services.bookings.actions.import_events import watch_seats
from services.bookings.actions.reconcile_imported_classes import reconcile_imported_classes
from services.bookings.rules.class_times import problem_with_times
from services.bookings.rules.import_refusals import refusals
from services.bookings.store import import_members, import_seats, import_shown, studios
from services.bookings.store.import_changes import CHANGED
from services.bookings.store.import_known import read_known
from services.bookings.store.import_locks import lock_classes_and_members, lock_members, no_lock
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.events import kinds
from shared.transfer.importing import Import, Importer, Line, Row, Step, Write, watch_changes
from shared.transfer.lines import Earlier


def _to_row(value: wire.AnyImported, written: bytes) -> Row:
    """Fills derived fields. Raises ValueError with the reason why the line cannot be used."""
    if isinstance(value, wire.ImportedClass) and (
        problem := problem_with_times(value.start_time, value.end_time)
    ):
        raise ValueError(problem)
    if isinstance(value, wire.ImportedBooking) and value.cancellation and value.status != "cancelled":
        raise ValueError("Only a cancelled booking has a cancellation.")
    if isinstance(value, wire.ImportedMember):
        value.name = value.name if value.name is not None else f"{value.first_name} {value.last_name}".strip()
        try:
            value.email = normalize_email(value.email) if value.email is not None else None
        except ValueError as problem:
            raise ValueError(f"email: {problem}") from None
    row: Row = msgspec.to_builtins(value)
    return row


async def _refuse(conn: Connection, lines: Sequence[Line], earlier: Sequence[Earlier]) -> dict[int, str]:
    """Decides all lines from one look at the stored rows: to find them by failed writes costs far more."""
    known = await read_known(conn, lines, earlier)
    reasons = refusals(known, [(line.studio_id, line.value) for line in lines])
    return {line.number: reason for line, reason in zip(lines, reasons, strict=True) if reason is not None}


def _importer(line: type[Any], write: Write) -> Importer:
    """Copies of studios and locations are compared when they are written."""
    return Importer(line, write, CHANGED.get(line))


IMPORT = Import(
    lines=wire.AnyImported,
    to_row=_to_row,
    steps=(
        # The events of copied resources come from the catalog.
        Step(importers=(_importer(wire.ImportedStudio, import_members.write_studios),), lock=no_lock),
        Step(importers=(_importer(wire.ImportedLocation, import_members.write_locations),), lock=no_lock),
        Step(importers=(_importer(wire.ImportedProduct, import_members.write_products),), lock=no_lock),
        Step(
            importers=(_importer(wire.ImportedMember, import_members.write_members),),
            lock=lock_members("id"),
            watch=watch_changes(import_shown.shown_members, kinds.MemberCreated, kinds.MemberUpdated),
        ),
        Step(
            importers=(_importer(wire.ImportedMembership, import_members.write_memberships),),
            lock=lock_members("member_id"),
            watch=watch_changes(
                import_shown.shown_memberships, kinds.MembershipCreated, kinds.MembershipUpdated
            ),
        ),
        Step(
            importers=(_importer(wire.ImportedPurchase, import_members.write_purchases),),
            lock=lock_members("member_id"),
            watch=watch_changes(import_shown.shown_purchases, kinds.PurchaseCreated, kinds.PurchaseUpdated),
        ),
        # In one transaction with the promotions that follow.
        Step(
            importers=(
                _importer(wire.ImportedClass, import_seats.write_classes),
                _importer(wire.ImportedSpot, import_seats.write_spots),
                _importer(wire.ImportedBooking, import_seats.write_bookings),
                _importer(wire.ImportedEntry, import_seats.write_entries),
            ),
            lock=lock_classes_and_members,
            watch=watch_seats,
            settle=reconcile_imported_classes,
        ),
    ),
    refuse=_refuse,
    timezones_of=studios.timezones_of,
    finish=import_seats.analyze_grown,
)
