"""Decides a booking: a seat, a place on the waitlist, or a refusal."""

from msgspec import Struct
from msgspec.structs import replace

from services.bookings.rules.booking_checks import Check, run_checks, seat_is_free
from services.bookings.rules.booking_facts import BookingFacts, LiveBooking, SpotFacts
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.classes import SpotMode


class Seat(Struct, frozen=True):
    """Confirmed."""

    credits_charged: int
    spot_id: str | None


class WaitlistPlace(Struct, frozen=True):
    """On the waitlist. Credits are charged at promotion, not before."""

    position: int


class Refusal(Struct, frozen=True):
    check: Check


Decision = Seat | WaitlistPlace | Refusal


def decide_booking(facts: BookingFacts, *, join_waitlist: bool, spot_id: str | None) -> Decision:
    for check in run_checks(facts, join_waitlist=join_waitlist, spot_id=spot_id):
        if not check.passed:
            return Refusal(check)
    class_ = facts.class_
    if not seat_is_free(class_):
        return WaitlistPlace(class_.waitlist_count + 1)
    charged = check_eligibility(class_, facts.member, facts.now).credits_charged
    return Seat(charged, assign_spot(class_.spot_selection_mode, facts.spots, wished=spot_id))


def facts_after(facts: BookingFacts, decision: Seat | WaitlistPlace, booking_id: str) -> BookingFacts:
    """The facts for the next booking of the batch, decided before this one is written."""
    class_, member = facts.class_, facts.member
    if isinstance(decision, WaitlistPlace):
        return replace(
            facts,
            class_=replace(class_, waitlist_count=class_.waitlist_count + 1, version=class_.version + 1),
            live=LiveBooking(id=booking_id, status=BookingStatus.WAITLISTED),
        )
    return replace(
        facts,
        class_=replace(class_, booked_count=class_.booked_count + 1, version=class_.version + 1),
        member=replace(member, credits=member.credits - decision.credits_charged),
        live=LiveBooking(id=booking_id, status=BookingStatus.CONFIRMED),
        spots=[replace(spot, taken=True) if spot.id == decision.spot_id else spot for spot in facts.spots],
    )


def knows_spot(facts: BookingFacts, spot_id: str | None) -> bool:
    """False for a spot that the class does not have. Classes without spot selection ignore it."""
    if spot_id is None or facts.class_.spot_selection_mode in (None, SpotMode.NONE):
        return True
    return any(spot.id == spot_id for spot in facts.spots)


def assign_spot(mode: SpotMode | None, spots: list[SpotFacts], *, wished: str | None) -> str | None:
    """The requested spot, else the first free one; None if the class has no spot selection."""
    if mode in (None, SpotMode.NONE):
        return None
    if wished is not None:
        return wished
    return next((spot.id for spot in spots if not spot.taken), None)
