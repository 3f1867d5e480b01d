"""What cancelling costs under the studio's current policy."""

from datetime import datetime, timedelta
from decimal import Decimal

from msgspec import Struct

from services.bookings.wire.bookings import BookingStatus, FeeStatus


class Policy(Struct, frozen=True, kw_only=True):
    late_window_minutes: int = 720
    late_fee_amount: Decimal | None = None
    late_fee_currency: str | None = None
    forfeit_credit: bool = False

    @property
    def late_window(self) -> timedelta:
        return timedelta(minutes=self.late_window_minutes)


class Terms(Struct, frozen=True, kw_only=True):
    late_cancel: bool
    free_cancel_until: datetime
    late_fee_amount: Decimal | None
    late_fee_currency: str | None
    late_fee_status: FeeStatus
    credits_forfeited: int
    credits_restored: int


class BookingToCancel(Struct, frozen=True, kw_only=True):
    """The part of a booking that its cancellation depends on."""

    status: BookingStatus
    start_time: datetime
    credits_charged: int
    promoted_at: datetime | None


def free_cancel_until(booking: BookingToCancel, policy: Policy) -> datetime:
    """A waitlisted booking or a hold is never late, nor who was promoted after the deadline had passed."""
    deadline = booking.start_time - policy.late_window
    promoted_late = booking.promoted_at is not None and booking.promoted_at > deadline
    if booking.status in (BookingStatus.WAITLISTED, BookingStatus.HELD) or promoted_late:
        return booking.start_time
    return deadline


def is_late(booking: BookingToCancel, policy: Policy, now: datetime) -> bool:
    """Cancelling exactly at the deadline is still free."""
    return now > free_cancel_until(booking, policy)


def terms_for_member(booking: BookingToCancel, policy: Policy, now: datetime) -> Terms:
    late = is_late(booking, policy, now)
    fee = policy.late_fee_amount if late and policy.late_fee_amount else None
    forfeited = booking.credits_charged if late and policy.forfeit_credit else 0
    return Terms(
        late_cancel=late,
        free_cancel_until=free_cancel_until(booking, policy),
        late_fee_amount=fee,
        late_fee_currency=policy.late_fee_currency if fee else None,
        late_fee_status="assessed" if fee else "none",
        credits_forfeited=forfeited,
        credits_restored=booking.credits_charged - forfeited,
    )


def terms_by_studio(booking: BookingToCancel, policy: Policy, now: datetime) -> Terms:
    """The studio cancels: nobody pays, and a fee that would have been due is waived."""
    would_pay = is_late(booking, policy, now) and bool(policy.late_fee_amount)
    return Terms(
        late_cancel=False,
        free_cancel_until=free_cancel_until(booking, policy),
        late_fee_amount=None,
        late_fee_currency=None,
        late_fee_status="waived" if would_pay else "none",
        credits_forfeited=0,
        credits_restored=booking.credits_charged,
    )


def terms_accepted(terms: Terms, *, max_late_fee: Decimal | None, allow_credit_forfeit: bool | None) -> bool:
    """The caller accepts whatever the caller did not limit."""
    dearer = max_late_fee is not None and (terms.late_fee_amount or 0) > max_late_fee
    loses = allow_credit_forfeit is False and terms.credits_forfeited > 0
    return not (dearer or loses)


def may_cancel(booking: BookingToCancel, now: datetime) -> bool:
    live = booking.status in (BookingStatus.HELD, BookingStatus.CONFIRMED, BookingStatus.WAITLISTED)
    return live and now < booking.start_time
