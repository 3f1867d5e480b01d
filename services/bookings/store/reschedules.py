"""Reads and lists what became of bookings that were moved to another class."""

import msgspec

from services.bookings.rules.cancellation import Terms
from services.bookings.store import bookings
from services.bookings.store.keyset_pages import Filters, ListedTable, fetch_page
from services.bookings.store.save_class_changes import RescheduleRow
from services.bookings.wire.bookings import Booking, BookingReschedule, RescheduleTerms
from services.bookings.wire.field_types import format_money
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import Page, page_of
from shared.wire import PageQuery

COLUMNS = """
t.id, t.booking_id, t.from_class_id, t.created_at, t.credits_charged, t.late_cancel, t.free_cancel_until,
t.late_fee_amount, t.late_fee_currency, t.late_fee_status, t.credits_forfeited, t.credits_restored,
(SELECT c.location_id FROM classes c WHERE c.studio_id = t.studio_id AND c.id = t.from_class_id)
    AS from_location
"""
TABLE = ListedTable(table="reschedules", columns=COLUMNS, located=False)


def terms_to_wire(terms: Terms) -> RescheduleTerms:
    return RescheduleTerms(
        late_cancel=terms.late_cancel,
        free_cancel_until=terms.free_cancel_until,
        late_fee_amount=format_money(terms.late_fee_amount),
        late_fee_currency=terms.late_fee_currency,
        late_fee_status=terms.late_fee_status,
        credit_forfeited=terms.credits_forfeited > 0,
        credits_forfeited=terms.credits_forfeited,
        credits_restored=terms.credits_restored,
    )


def to_wire(row: RescheduleRow, booking: Booking, *, shows_class: bool = True) -> BookingReschedule:
    return BookingReschedule(
        id=row.id,
        booking=booking,
        from_class_id=row.from_class_id if shows_class else None,
        at=row.created_at,
        terms=terms_to_wire(row),
        credits_charged=row.credits_charged,
    )


async def list_page(
    conn: Connection, caller: Caller, booking_id: str, query: PageQuery
) -> Page[BookingReschedule]:
    """Every move of a booking that the caller may see, oldest first."""
    booking = await bookings.get(conn, caller, booking_id)
    filters = Filters(narrow={"booking_id": booking_id})
    found: list[BookingReschedule] = []
    for values in await fetch_page(conn, caller, TABLE, filters, query):
        visible = caller.may_see(values.pop("from_location"))
        row = msgspec.convert(values, RescheduleRow)
        found.append(to_wire(row, booking, shows_class=visible))
    return page_of(found, query.limit)
