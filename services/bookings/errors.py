"""This service's domain errors. Clients rely on the code; the message is for people."""

from collections.abc import Mapping
from typing import Any

from shared.errors import Conflict


class ClassFull(Conflict):
    code = "class_full"
    message = "The class is full."


class WaitlistNotAllowed(Conflict):
    code = "waitlist_not_allowed"
    message = "The class is full and has no waitlist."


class WaitlistFull(Conflict):
    code = "waitlist_full"
    message = "The class and its waitlist are full."


class AlreadyBooked(Conflict):
    code = "already_booked"
    message = "The member already has a booking for this class."


class AlreadyWaitlisted(Conflict):
    code = "already_waitlisted"
    message = "The member is already on the waitlist of this class."


class AlreadyHeld(Conflict):
    code = "already_held"
    message = "A seat in this class is already held for the member."


class TooManyHolds(Conflict):
    code = "too_many_holds"
    message = "No more seats of this class can be held for now."


class HoldExpired(Conflict):
    code = "hold_expired"
    message = "The hold has run out, and its seat is no longer free."


class BookingNotHeld(Conflict):
    code = "booking_not_held"
    message = "The booking is not held."


class BookingHeld(Conflict):
    code = "booking_held"
    message = "The seat is only held: the booking has to be confirmed first."


class ClassNotBookable(Conflict):
    code = "class_not_bookable"
    message = "The class cannot be booked."


class SpotRequired(Conflict):
    code = "spot_required"
    message = "This class requires a spot."


class SpotTaken(Conflict):
    code = "spot_taken"
    message = "The spot is already taken."


class MemberNotEligible(Conflict):
    code = "member_not_eligible"
    message = "The member is not eligible for this class."


class BookingAlreadyCancelled(Conflict):
    code = "booking_already_cancelled"
    message = "The booking is already cancelled."


class BookingNotCancellable(Conflict):
    code = "booking_not_cancellable"
    message = "The booking can no longer be cancelled."


class CancellationTermsChanged(Conflict):
    code = "cancellation_terms_changed"
    message = "Cancelling would cost more than was accepted; nothing was cancelled."


class BookingNotMovable(Conflict):
    code = "booking_not_movable"
    message = "The booking cannot be moved."


class SameClass(Conflict):
    code = "same_class"
    message = "The booking is already in this class."


class NoFeeToWaive(Conflict):
    code = "no_fee_to_waive"
    message = "The booking's cancellation has no late fee that could be waived."


class MemberExists(Conflict):
    code = "member_exists"
    message = "A member with this email already exists."


class InvalidStateTransition(Conflict):
    code = "invalid_state_transition"
    message = "This state transition is not allowed."

    def __init__(self, before: str, after: str, allowed: list[str]) -> None:
        super().__init__(details={"from": before, "to": after, "allowed": sorted(allowed)})


class ClassExists(Conflict):
    code = "class_exists"
    message = "A class with this id already exists."


class PurchaseExists(Conflict):
    code = "purchase_exists"
    message = "A purchase with this id already exists."


BOOKING_REFUSALS: tuple[type[Conflict], ...] = (
    ClassNotBookable,
    AlreadyBooked,
    AlreadyWaitlisted,
    AlreadyHeld,
    MemberNotEligible,
    SpotRequired,
    SpotTaken,
    ClassFull,
    WaitlistNotAllowed,
    WaitlistFull,
    TooManyHolds,
)
# In their order: first those of the old class, then those of a booking, then the price.
MOVE_REFUSALS: tuple[type[Conflict], ...] = (
    BookingNotMovable,
    SameClass,
    *(one for one in BOOKING_REFUSALS if one not in (WaitlistNotAllowed, WaitlistFull, TooManyHolds)),
    CancellationTermsChanged,
)
CONFIRM_REFUSALS: tuple[type[Conflict], ...] = (
    BookingNotHeld,
    ClassNotBookable,
    AlreadyBooked,
    AlreadyWaitlisted,
    AlreadyHeld,
    MemberNotEligible,
    HoldExpired,
)
_BY_CODE = {kind.code: kind for kind in (*BOOKING_REFUSALS, *CONFIRM_REFUSALS, *MOVE_REFUSALS)}


def refusal(code: str, details: Mapping[str, Any], param: str | None) -> Conflict:
    """The domain error for a failed check of `rules/`."""
    return _BY_CODE[code](details=details, param=param)
