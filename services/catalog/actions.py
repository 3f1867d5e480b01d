"""How this service's lines are checked, compared and written, and the events of what they change."""

from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from services.catalog.store import import_lines as store
from services.catalog.wire import import_lines as wire
from services.catalog.wire.resources import ClassType, Instructor, Location, Room, Studio
from shared.db.timezones import zone_problem
from shared.events import kinds
from shared.events.event import Kind
from shared.transfer.importing import Import, Step, lock_studios, watch_changes
from shared.transfer.lines import Row
from shared.transfer.refusals import Importer, Unique
from shared.transfer.tables import Table


def _to_row(value: Any, written: bytes) -> Row:
    has_zone = isinstance(value, (wire.ImportedStudio, wire.ImportedLocation))
    if has_zone and (reason := zone_problem(value.timezone)):
        raise ValueError(reason)
    if isinstance(value, wire.ImportedProduct):
        for price in value.prices:
            if not _usable(price.amount):
                raise ValueError(f"The price {price.id} has no valid amount: {price.amount}.")
        if len({price.id.lower() for price in value.prices}) < len(value.prices):
            raise ValueError("The line contains an id twice.")
    row: Row = msgspec.to_builtins(value)
    return row


def _usable(amount: Decimal) -> bool:
    """Stored as written; no currency has more than six decimals."""
    if not amount.is_finite() or not 0 <= amount < 10**12:
        return False
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -6


def _step(
    line: type[Any],
    table: Table,
    struct: type[Struct],
    created: Kind | None,
    updated: Kind,
    **refers_to: str,
) -> Step:
    return Step(
        importers=(table.importer(line, refers_to=refers_to),),
        lock=lock_studios,
        watch=watch_changes(store.read_as(struct), created, updated),
    )


IMPORT = Import(
    lines=wire.AnyImported,
    to_row=_to_row,
    steps=(
        # A new studio has no event: nobody could receive it.
        _step(wire.ImportedStudio, store.STUDIOS, Studio, None, kinds.StudioUpdated),
        _step(wire.ImportedLocation, store.LOCATIONS, Location, kinds.LocationCreated, kinds.LocationUpdated),
        _step(
            wire.ImportedRoom,
            store.ROOMS,
            Room,
            kinds.RoomCreated,
            kinds.RoomUpdated,
            location_id="locations",
        ),
        _step(
            wire.ImportedClassType,
            store.CLASS_TYPES,
            ClassType,
            kinds.ClassTypeCreated,
            kinds.ClassTypeUpdated,
        ),
        _step(
            wire.ImportedInstructor,
            store.INSTRUCTORS,
            Instructor,
            kinds.InstructorCreated,
            kinds.InstructorUpdated,
        ),
        Step(
            importers=(
                Importer(
                    line=wire.ImportedProduct,
                    table="products",
                    write=store.write_products,
                    changed=store.changed_products,
                    unique=(Unique(fields=("key",)),),
                ),
            ),
            lock=lock_studios,
            watch=watch_changes(store.read_products, kinds.ProductCreated, kinds.ProductUpdated),
        ),
        # The bookings service stores them.
        Step(
            importers=(
                Importer(
                    line=wire.ReferringClass,
                    refers_to={
                        "class_type_id": "class_types",
                        "location_id": "locations",
                        "room_id": "rooms",
                        "instructor_id": "instructors",
                    },
                ),
                Importer(line=wire.ReferringMembership, refers_to={"product_id": "products"}),
                Importer(
                    line=wire.ReferringPurchase,
                    refers_to={"location_id": "locations", "product_id": "products"},
                ),
            )
        ),
    ),
)
