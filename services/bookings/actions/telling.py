"""What partners are told: events in the order in which things happened in a class, and receipts."""

from datetime import datetime

from services.bookings.store.roster_write import ReceiptRow
from services.bookings.store.rows import BookingRow, EntryRow
from services.bookings.wire.bookings import CancellationReceipt
from services.bookings.wire.text import money_text
from shared.events.kinds import Event, EventResource, WaitlistUpdated
from shared.http.caller import Caller


def booking_event(
    kind: type[Event], caller: Caller, booking: BookingRow, now: datetime, *, position: int | None = None
) -> Event:
    return kind(
        studio_id=caller.studio_id,
        location_id=booking.location_id,
        resource=EventResource("booking", booking.id, booking.version),
        data=booking.shown(position),
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
        aggregate=f"class:{booking.class_id}",
        created_at=now,
    )


def entry_event(caller: Caller, entry: EntryRow, now: datetime) -> Event:
    return WaitlistUpdated(
        studio_id=caller.studio_id,
        location_id=entry.location_id,
        resource=EventResource("waitlist", entry.id, entry.version),
        data=entry.shown(),
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
        aggregate=f"class:{entry.class_id}",
        created_at=now,
    )


def receipt_of(row: ReceiptRow, booking: BookingRow) -> CancellationReceipt:
    return CancellationReceipt(
        id=row.id or None,
        booking_id=booking.id,
        class_id=booking.class_id,
        member_id=booking.member_id,
        cancelled_at=row.cancelled_at,
        reason=row.reason,
        late_cancel=row.late_cancel,
        free_cancel_until=row.free_cancel_until,
        late_fee_amount=money_text(row.late_fee_amount),
        late_fee_currency=row.late_fee_currency,
        late_fee_status=row.late_fee_status,
        credit_forfeited=row.credits_forfeited > 0,
        credits_forfeited=row.credits_forfeited,
        credits_restored=row.credits_restored,
    )
