"""Upsert a batch of imported lines, each kind in one statement, and name the lines that are not usable."""

from collections.abc import Sequence
from decimal import Decimal
from zoneinfo import available_timezones

from services.catalog.store import imported
from services.catalog.wire.imported import AnyImported, ImportedLocation, ImportedProduct, ImportedStudio
from shared.database import Database
from shared.importing import Decoded, ImportLine, ImportReport, Rejected, apply_batch, decode_line


async def import_lines(db: Database, lines: Sequence[ImportLine]) -> ImportReport:
    usable: list[Decoded[AnyImported]] = []
    rejected: list[Rejected] = []
    for line in lines:
        decoded: Decoded[AnyImported] | Rejected = decode_line(AnyImported, line)
        if not isinstance(decoded, Rejected) and (reason := _refusal(decoded.value)):
            decoded = Rejected(line.number, reason)
        if isinstance(decoded, Rejected):
            rejected.append(decoded)
        else:
            usable.append(decoded)
    # What others refer to goes first, so that the lines of a batch may come in any order.
    for kind, write in imported.WRITERS:
        rejected += await apply_batch(db, [line for line in usable if isinstance(line.value, kind)], write)
    return ImportReport(imported=len(lines) - len(rejected), rejected=rejected)


def _usable(amount: Decimal) -> bool:
    """Kept as it is written; six decimals are more than any currency has."""
    if not amount.is_finite() or not 0 <= amount < 10**12:
        return False
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -6


def _refusal(value: AnyImported) -> str | None:
    if isinstance(value, (ImportedStudio, ImportedLocation)):
        timezone = value.timezone
        if timezone is not None and timezone not in available_timezones():
            return f"timezone {timezone!r} is no IANA time zone."
    if isinstance(value, ImportedProduct):
        for price in value.prices:
            if not _usable(price.amount):
                return f"The price {price.id} has no usable amount: {price.amount}."
    return None
