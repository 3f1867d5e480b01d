"""The cancellation receipt that a partner gets."""

from services.bookings.store.booking_row import BookingRow
from services.bookings.store.save_class_changes import ReceiptRow
from services.bookings.wire.bookings import CancellationReceipt
from services.bookings.wire.money import format_money


def build_receipt(row: ReceiptRow, booking: BookingRow) -> CancellationReceipt:
    return CancellationReceipt(
        id=row.id or None,
        booking_id=booking.id,
        class_id=booking.class_id,
        member_id=booking.member_id,
        cancelled_at=row.cancelled_at,
        reason=row.reason,
        late_cancel=row.late_cancel,
        free_cancel_until=row.free_cancel_until,
        late_fee_amount=format_money(row.late_fee_amount),
        late_fee_currency=row.late_fee_currency,
        late_fee_status=row.late_fee_status,
        credit_forfeited=row.credits_forfeited > 0,
        credits_forfeited=row.credits_forfeited,
        credits_restored=row.credits_restored,
    )
