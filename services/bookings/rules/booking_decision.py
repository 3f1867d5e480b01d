"""Decides a booking: a seat, held or confirmed, a place on the waitlist, or the first reason to refuse it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from services.bookings.rules.booking_facts import (
    BookingFacts,
    ClassFacts,
    LiveBooking,
    MemberFacts,
    SpotFacts,
)
from services.bookings.rules.eligibility import Ineligible, check_eligibility
from services.bookings.wire.bookings import BookingStatus
from services.bookings.wire.classes import ClassStatus, SpotMode


class Check(Struct, frozen=True):
    """A failed check has `details` for the caller."""

    code: str
    passed: bool
    details: dict[str, Any] = {}
    param: str | None = None


class HoldWish(Struct, frozen=True):
    """`share`: the part of a class's seats that the client may hold at once. None: a third."""

    seconds: int
    share: str | None = None


HOLDS_OF_A_MEMBER = 2
PER = timedelta(hours=24)


def run_checks(
    facts: BookingFacts, *, join_waitlist: bool, spot_id: str | None, hold: HoldWish | None = None
) -> list[Check]:
    """All checks, failed or not: a preview shows them all, a booking stops at the first failure.

    Those that are about holds are left out where there is none.
    """
    class_, held = facts.class_, _is_held(facts.live)
    about_holds = {"already_held": held, "too_many_holds": False}
    checks = [
        check_bookable(class_, facts.now),
        *check_not_booked_yet(facts.live),
        check_member(class_, facts.member, facts.now, hold=hold is not None),
        *check_spot(facts, join_waitlist=join_waitlist, spot_id=spot_id),
        *check_seat(class_, join_waitlist=join_waitlist, has_seat=held),
        check_hold_limits(facts, hold),
    ]
    return [check for check in checks if hold is not None or about_holds.get(check.code, True)]


def check_bookable(class_: ClassFacts, now: datetime) -> Check:
    reason = None
    if class_.status is ClassStatus.CANCELLED:
        reason = "cancelled"
    elif class_.status is ClassStatus.COMPLETED:
        reason = "completed"
    elif class_.start_time <= now:
        reason = "started"
    elif not class_.visible:
        reason = "hidden"
    return _check("class_not_bookable", reason is not None, {"reason": reason}, "class_id")


def _is_held(live: LiveBooking | None) -> bool:
    return live is not None and live.status is BookingStatus.HELD


def check_not_booked_yet(live: LiveBooking | None) -> list[Check]:
    waiting = live is not None and live.status is BookingStatus.WAITLISTED
    held = _is_held(live)
    details = {"booking_id": live.id} if live else {}
    return [
        _check("already_booked", live is not None and not waiting and not held, details, "member_id"),
        _check("already_waitlisted", waiting, details, "member_id"),
        _check("already_held", held, details, "member_id"),
    ]


def check_member(class_: ClassFacts, member: MemberFacts, now: datetime, *, hold: bool = False) -> Check:
    """What a payment cures does not refuse a hold: the member may be about to pay."""
    reasons = check_eligibility(class_, member, now).reasons
    if hold:
        reasons = tuple(reason for reason in reasons if reason is Ineligible.MEMBER_SUSPENDED)
    return _check("member_not_eligible", bool(reasons), {"reasons": list(reasons)}, "member_id")


def check_hold_limits(facts: BookingFacts, hold: HoldWish | None) -> Check:
    details: dict[str, Any] = {}
    if hold is not None and facts.holds is not None:
        if len(facts.holds.of_member) >= HOLDS_OF_A_MEMBER:
            details = {"retry_at": facts.holds.of_member[-HOLDS_OF_A_MEMBER] + PER}
        elif facts.holds.of_client >= (limit := hold_limit(facts.class_.capacity, hold.share)):
            details = {"limit": limit}
    return _check("too_many_holds", bool(details), details, "class_id")


def hold_limit(capacity: int, share: str | None) -> int:
    return max(1, capacity // 3 if share is None else int(capacity * Decimal(share)))


def check_late_confirm(
    facts: BookingFacts, *, spot_id: str | None, expired_at: datetime | None
) -> list[Check]:
    """A hold that has run out takes its seat again if the seat and its spot are free and nobody waits."""
    class_ = facts.class_
    taken = any(spot.id == spot_id and spot.taken for spot in facts.spots)
    details = {
        "expired_at": expired_at,
        "available_count": max(0, class_.seats_left),
        "waitlist_count": class_.waitlist_count,
    }
    return [
        check_bookable(class_, facts.now),
        *check_not_booked_yet(facts.live),
        check_member(class_, facts.member, facts.now),
        _check("hold_expired", class_.seats_left <= 0 or class_.waitlist_count > 0 or taken, details, None),
    ]


def first_failed(checks: Iterable[Check]) -> Check | None:
    return next((check for check in checks if not check.passed), None)


def check_spot(facts: BookingFacts, *, join_waitlist: bool, spot_id: str | None) -> list[Check]:
    """A waitlisted booking has no spot yet: promotion assigns the first free one."""
    mode = facts.class_.spot_selection_mode
    if mode in (None, SpotMode.NONE) or (join_waitlist and not seat_is_free(facts.class_)):
        required = taken = False
    else:
        required = mode is SpotMode.REQUIRED and spot_id is None
        taken = any(spot.id == spot_id and spot.taken for spot in facts.spots)
    return [
        _check("spot_required", required, {}, "class_spot_id"),
        _check("spot_taken", taken, {}, "class_spot_id"),
    ]


def check_seat(class_: ClassFacts, *, join_waitlist: bool, has_seat: bool = False) -> list[Check]:
    full = not seat_is_free(class_) and not has_seat
    room = class_.waitlist_capacity is None or class_.waitlist_count < class_.waitlist_capacity
    details: dict[str, Any] = {
        "capacity": class_.capacity,
        "booked_count": class_.booked_count,
        "allow_waitlist": class_.allow_waitlist,
        "waitlist_count": class_.waitlist_count,
    }
    if class_.held_count:
        details |= {"held_count": class_.held_count, "next_hold_ends_at": class_.next_hold_ends_at}
    joining = full and join_waitlist
    return [
        _check("class_full", full and not join_waitlist, details, "class_id"),
        _check("waitlist_not_allowed", joining and not class_.allow_waitlist, details, "class_id"),
        _check("waitlist_full", joining and class_.allow_waitlist and not room, details, "class_id"),
    ]


def seat_is_free(class_: ClassFacts) -> bool:
    """The waitlist goes first: a new booking gets a seat only if one is left after everyone who waits."""
    return class_.seats_left > class_.waitlist_count


def _check(code: str, failed: bool, details: dict[str, Any], param: str | None) -> Check:
    return Check(code, False, details, param) if failed else Check(code, True)


class Seat(Struct, frozen=True):
    """Confirmed, or held until then. Confirming a hold charges the credits."""

    credits_charged: int
    spot_id: str | None
    held_until: datetime | None = None


class WaitlistPlace(Struct, frozen=True):
    """On the waitlist. Credits are charged at promotion, not before."""

    position: int


class Refusal(Struct, frozen=True):
    check: Check


Decision = Seat | WaitlistPlace | Refusal


def decide_booking(
    facts: BookingFacts, *, join_waitlist: bool, spot_id: str | None, hold: HoldWish | None = None
) -> Decision:
    checks = run_checks(facts, join_waitlist=join_waitlist, spot_id=spot_id, hold=hold)
    if failed := first_failed(checks):
        return Refusal(failed)
    class_ = facts.class_
    if not seat_is_free(class_):
        return WaitlistPlace(class_.waitlist_count + 1)
    spot = assign_spot(class_.spot_selection_mode, facts.spots, wished=spot_id)
    if hold is not None:
        return Seat(0, spot, min(facts.now + timedelta(seconds=hold.seconds), class_.start_time))
    return Seat(check_eligibility(class_, facts.member, facts.now).credits_charged, spot)


def facts_after(facts: BookingFacts, decision: Seat | WaitlistPlace, booking_id: str) -> BookingFacts:
    """The facts for the next booking of the batch, decided before this one is written."""
    class_, member = facts.class_, facts.member
    if isinstance(decision, WaitlistPlace):
        return replace(
            facts,
            class_=replace(class_, waitlist_count=class_.waitlist_count + 1, version=class_.version + 1),
            live=LiveBooking(id=booking_id, status=BookingStatus.WAITLISTED),
        )
    end = decision.held_until
    return replace(
        facts,
        class_=replace(
            class_,
            booked_count=class_.booked_count + (end is None),
            held_count=class_.held_count + (end is not None),
            next_hold_ends_at=min(filter(None, (end, class_.next_hold_ends_at)), default=None),
            version=class_.version + 1,
        ),
        member=replace(member, credits=member.credits - decision.credits_charged),
        live=LiveBooking(id=booking_id, status=BookingStatus.HELD if end else BookingStatus.CONFIRMED),
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
