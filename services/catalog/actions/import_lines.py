"""Upserts a batch of import lines, each kind in one statement, and reports the lines that cannot be used."""

from collections.abc import Sequence
from decimal import Decimal
from zoneinfo import available_timezones

from services.catalog.context import Catalog
from services.catalog.store import import_lines as import_store
from services.catalog.wire.import_lines import AnyImported, ImportedLocation, ImportedProduct, ImportedStudio
from shared.http.importing import ImportLine, ImportReport, apply_batch, usable_lines


async def import_lines(catalog: Catalog, lines: Sequence[ImportLine]) -> ImportReport:
    usable, rejected = usable_lines(AnyImported, lines, _refusal)
    # Referenced kinds go first, so that the lines of a batch may come in any order.
    for kind, write in import_store.WRITERS:
        rejected += await apply_batch(
            catalog.db, [line for line in usable if isinstance(line.value, kind)], write
        )
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
        if timezone is not None and timezone not in available_timezones():
            return f"timezone {timezone!r} is not an IANA time zone."
    if isinstance(value, ImportedProduct):
        for price in value.prices:
            if not _usable(price.amount):
                return f"The price {price.id} has no usable amount: {price.amount}."
    return None
