"""What cancelling a booking would cost now. Takes no lock and changes nothing."""

import msgspec

from services.bookings.actions.cancel_booking import terms_of
from services.bookings.actions.receipts import build_receipt
from services.bookings.context import Bookings
from services.bookings.store import bookings, locks, studios
from services.bookings.store.save_class_changes import ReceiptRow
from services.bookings.wire.bookings import CancellationReceipt
from shared.errors import NotFound
from shared.http.caller import Caller


async def preview_cancellation(service: Bookings, caller: Caller, booking_id: str) -> CancellationReceipt:
    async with service.db.connection() as conn:
        booking = await bookings.read(conn, caller, booking_id)
        class_ = await locks.read_class(conn, caller, booking.class_id) if booking else None
        if booking is None or class_ is None:
            raise NotFound
        policy = await studios.policy(conn, caller)
        terms = await terms_of(conn, caller, booking, class_, policy)
    row = ReceiptRow(
        id="", booking_id=booking.id, cancelled_at=class_.now, reason=None, **msgspec.structs.asdict(terms)
    )
    return build_receipt(row, booking)
