"""Whether a booking may move to another class, and what that costs."""

from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import asdict, replace

from services.bookings.rules.booking_decision import Check, assign_spot, run_checks
from services.bookings.rules.booking_facts import BookingFacts
from services.bookings.rules.cancellation import (
    BookingToCancel,
    Policy,
    Terms,
    terms_accepted,
    terms_for_member,
)
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.wire.bookings import BookingMove, BookingStatus, CancelQuery
from services.bookings.wire.field_types import format_money


class Move(Struct, frozen=True, kw_only=True):
    """`leaves` is the booking in its old class, `target` what a booking of the new class depends on."""

    leaves: BookingToCancel
    from_class_id: str
    target: BookingFacts
    policy: Policy

    @property
    def now(self) -> datetime:
        return self.target.now

    @property
    def terms(self) -> Terms | None:
        """What giving up the old seat costs now. None if there is no seat to give up."""
        return terms_for_member(self.leaves, self.policy, self.now) if self.problem is None else None

    @property
    def problem(self) -> dict[str, str] | None:
        """Why the booking cannot leave its class."""
        if self.leaves.status is not BookingStatus.CONFIRMED:
            return {"status": self.leaves.status}
        if self.leaves.start_time <= self.now:
            return {"status": self.leaves.status, "reason": "started"}
        return None

    @property
    def facts(self) -> BookingFacts:
        """Credits that the old seat gives back pay for the new one; forfeited ones do not."""
        back = self.terms.credits_restored if self.terms else 0
        member = self.target.member
        return replace(self.target, member=replace(member, credits=member.credits + back))


class NewSeat(Struct, frozen=True):
    terms: Terms
    credits_charged: int
    spot_id: str | None


def run_move_checks(move: Move, body: BookingMove) -> list[Check]:
    """In the order of refusal. A full class refuses: nobody gives up a seat for a place on a waitlist."""
    same = move.from_class_id == move.target.class_.id
    return [
        Check("booking_not_movable", move.problem is None, move.problem or {}),
        Check("same_class", not same, param="class_id" if same else None),
        *run_checks(move.facts, join_waitlist=False, spot_id=body.class_spot_id),
        check_terms(move.terms, body),
    ]


def check_terms(terms: Terms | None, limits: BookingMove | CancelQuery) -> Check:
    limit = None if limits.max_late_fee is None else Decimal(limits.max_late_fee)
    forfeit = limits.allow_credit_forfeit
    if terms is None or terms_accepted(terms, max_late_fee=limit, allow_credit_forfeit=forfeit):
        return Check("cancellation_terms_changed", True)
    return Check("cancellation_terms_changed", False, shown_terms(terms))


def shown_terms(terms: Terms) -> dict[str, object]:
    """The fields of a cancellation receipt that tell the price."""
    return asdict(terms) | {
        "late_fee_amount": format_money(terms.late_fee_amount),
        "credit_forfeited": terms.credits_forfeited > 0,
    }


def decide_move(move: Move, body: BookingMove) -> NewSeat | Check:
    """The new seat, or the first check that fails."""
    for check in run_move_checks(move, body):
        if not check.passed:
            return check
    facts, terms = move.facts, move.terms
    assert terms is not None
    charged = check_eligibility(facts.class_, facts.member, facts.now).credits_charged
    spot_id = assign_spot(facts.class_.spot_selection_mode, facts.spots, wished=body.class_spot_id)
    return NewSeat(terms, charged, spot_id)
