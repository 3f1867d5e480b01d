"""Who is promoted when seats are free: first come, first served, if still eligible."""

from datetime import datetime

from msgspec import Struct

from services.bookings.rules.booking_decision import assign_spot
from services.bookings.rules.booking_facts import ClassFacts, MemberFacts, SpotFacts
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.wire.classes import ClassStatus


class Waiting(Struct, frozen=True, kw_only=True):
    entry_id: str
    member: MemberFacts


class Promoted(Struct, frozen=True):
    entry_id: str
    credits_charged: int
    spot_id: str | None


class Promotion(Struct, frozen=True):
    promoted: tuple[Promoted, ...] = ()
    skipped: tuple[str, ...] = ()


def decide_promotion(
    class_: ClassFacts, waiting: list[Waiting], spots: list[SpotFacts], now: datetime
) -> Promotion:
    """`waiting` is in order. One promotion per free seat; members who are no longer eligible are skipped."""
    if class_.status is not ClassStatus.SCHEDULED or class_.start_time <= now:
        return Promotion()
    promoted: list[Promoted] = []
    skipped: list[str] = []
    free = list(spots)
    for candidate in waiting:
        if len(promoted) >= class_.seats_left:
            break
        eligibility = check_eligibility(class_, candidate.member, now)
        if not eligibility.ok:
            skipped.append(candidate.entry_id)
            continue
        spot_id = assign_spot(class_.spot_selection_mode, free, wished=None)
        free = [spot for spot in free if spot.id != spot_id]
        promoted.append(Promoted(candidate.entry_id, eligibility.credits_charged, spot_id))
    return Promotion(tuple(promoted), tuple(skipped))
