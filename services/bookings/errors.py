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
    MemberNotEligible,
    SpotRequired,
    SpotTaken,
    ClassFull,
    WaitlistNotAllowed,
    WaitlistFull,
)
_BY_CODE = {kind.code: kind for kind in BOOKING_REFUSALS}


def refusal(code: str, details: Mapping[str, Any], param: str | None) -> Conflict:
    """The domain error for a failed check of `rules/`."""
    return _BY_CODE[code](details=details, param=param)
