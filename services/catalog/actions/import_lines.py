"""Upserts the lines of a batch that change something, with their events, and reports unusable lines."""

from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from msgspec import Struct

from services.catalog.context import Catalog
from services.catalog.store import import_lines as store
from services.catalog.store import shown
from services.catalog.store.import_references import missing_references
from services.catalog.wire import import_lines as wire
from services.catalog.wire.class_type import ClassType
from services.catalog.wire.import_lines import AnyImported, ImportedLocation, ImportedProduct, ImportedStudio
from services.catalog.wire.instructor import Instructor
from services.catalog.wire.location import Location
from services.catalog.wire.room import Room
from services.catalog.wire.studio import Studio
from shared.db.database import Connection
from shared.events import kinds
from shared.events.changes import ShownById, change_events
from shared.events.event import Kind
from shared.events.outbox import add_events
from shared.http.importing import (
    Decoded,
    ImportLine,
    ImportReport,
    Write,
    apply_batch,
    changed_lines,
    usable_lines,
)

Lines = Sequence[Decoded[Any]]
# Read once: it takes 12 ms, and every line asks.
_timezones = cache(available_timezones)


class Importer(Struct, frozen=True, kw_only=True):
    """How lines of one kind are compared and written. A new studio has no event: nobody could receive it."""

    line: type[Any]
    changed: Callable[[Connection, Lines], Awaitable[list[int]]]
    write: Write[Any]
    read: Callable[[Connection, Lines], Awaitable[ShownById]]
    created: Kind | None
    updated: Kind

    async def write_and_tell(self, conn: Connection, lines: Lines) -> None:
        await store.lock_import(conn, lines)
        before = await self.read(conn, lines)
        await self.write(conn, lines)
        after = await self.read(conn, lines)
        if self.created is None:
            after = {key: found for key, found in after.items() if key in before}
        await add_events(conn, change_events(self.created or self.updated, self.updated, before, after))


def _of_table(
    line: type[Any], table: store.Table, struct: type[Struct], created: Kind | None, updated: Kind
) -> Importer:
    return Importer(
        line=line,
        changed=table.changed,
        write=table.write,
        read=lambda conn, lines: shown.read_shown(conn, struct, lines),
        created=created,
        updated=updated,
    )


# Referenced kinds go first, so that the lines of a batch may come in any order.
IMPORTERS = (
    _of_table(wire.ImportedStudio, store.STUDIOS, Studio, None, kinds.StudioUpdated),
    _of_table(wire.ImportedLocation, store.LOCATIONS, Location, kinds.LocationCreated, kinds.LocationUpdated),
    _of_table(wire.ImportedRoom, store.ROOMS, Room, kinds.RoomCreated, kinds.RoomUpdated),
    _of_table(
        wire.ImportedClassType, store.CLASS_TYPES, ClassType, kinds.ClassTypeCreated, kinds.ClassTypeUpdated
    ),
    _of_table(
        wire.ImportedInstructor,
        store.INSTRUCTORS,
        Instructor,
        kinds.InstructorCreated,
        kinds.InstructorUpdated,
    ),
    Importer(
        line=wire.ImportedProduct,
        changed=store.changed_products,
        write=store.write_products,
        read=shown.read_products,
        created=kinds.ProductCreated,
        updated=kinds.ProductUpdated,
    ),
)


async def import_lines(
    catalog: Catalog, lines: Sequence[ImportLine], *, send_events: bool = True
) -> ImportReport:
    usable, rejected = usable_lines(AnyImported, lines, _refusal)
    for importer in IMPORTERS:
        lines_of_kind = [line for line in usable if isinstance(line.value, importer.line)]
        own = await changed_lines(catalog.db, lines_of_kind, importer.changed)
        write = importer.write_and_tell if send_events else importer.write
        rejected += await apply_batch(catalog.db, own, write)
    referring = [line for line in usable if isinstance(line.value, wire.Referring)]
    async with catalog.db.connection() as conn:
        rejected += await missing_references(conn, referring)
    catalog.wakeup.notify()
    return ImportReport(imported=len(lines) - len(rejected), rejected=rejected)


def _usable(amount: Decimal) -> bool:
    """Stored as written; no currency has more than six decimals."""
    if not amount.is_finite() or not 0 <= amount < 10**12:
        return False
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -6


def _refusal(value: AnyImported) -> str | None:
    if isinstance(value, (ImportedStudio, ImportedLocation)):
        timezone = value.timezone
        if timezone is not None and timezone not in _timezones():
            return f"timezone {timezone!r} is not an IANA time zone."
    if isinstance(value, ImportedProduct):
        for price in value.prices:
            if not _usable(price.amount):
                return f"The price {price.id} has no valid amount: {price.amount}."
    return None
