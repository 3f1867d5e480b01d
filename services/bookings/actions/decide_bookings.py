"""Decides the bookings of one transaction one after the other: each finds what those before it left."""

from msgspec import Struct
from msgspec.structs import replace

from services.bookings.actions.idempotently import Keyed, Refused, refused
from services.bookings.actions.telling import booking_event, entry_event
from services.bookings.errors import refusal
from services.bookings.rules.booking import (
    Place,
    Refusal,
    Seat,
    decide_booking,
    facts_after,
    knows_spot,
)
from services.bookings.rules.facts import BookingFacts, ClassFacts, LiveBooking, SpotFacts
from services.bookings.store.booking_start import FactsRead
from services.bookings.store.booking_write import Outcome
from services.bookings.store.rows import BookingRow, EntryRow
from services.bookings.wire.bookings import BookingCreate, BookingStatus
from services.bookings.wire.waitlist import WaitlistStatus
from shared.errors import NotFound
from shared.events.kinds import BookingCreated
from shared.events.outbox import row_of
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.wire import encode, new_id


class Decided(Struct, frozen=True):
    """`label` is for the metrics: the booking's status, or why there is none."""

    answer: Answer
    outcome: Outcome
    label: str


class Deciding:
    """Facts are read once for all, before the first decision; here they are carried on. By studio and id."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, str], tuple[ClassFacts, list[SpotFacts]]] = {}
        # Only what a booking changes: of a member's memberships the facts tell those that the class asks for.
        self._credits: dict[tuple[str, str], int] = {}
        self._live: dict[tuple[str, str, str], LiveBooking | None] = {}

    def decide(self, caller: Caller, request: Keyed, body: BookingCreate, read: FactsRead) -> Decided:
        try:
            facts = known_facts(self._newest(caller.studio_id, body, read), caller, body)
            decision = seat_or_place(facts, body)
        except Refused as problem:
            answer = refused(problem, caller)
            kept = request.kept(answer, resource_id=None, class_id=_seen_class(read, caller))
            outcome = Outcome(studio_id=caller.studio_id, client_id=caller.client_id, kept=kept)
            return Decided(answer, outcome, problem.code)
        booking, entry = made_of(facts, body, decision)
        self._carry_on(caller.studio_id, facts_after(facts, decision, booking.id))
        position = entry.position if entry else None
        answer = Answer(encode(booking.shown(position)), 201)
        events = [booking_event(BookingCreated, caller, booking, facts.now, position=position)]
        if entry is not None:
            events.append(entry_event(caller, entry, facts.now))
        outcome = Outcome(
            studio_id=caller.studio_id,
            client_id=caller.client_id,
            kept=request.kept(answer, resource_id=booking.id, class_id=booking.class_id),
            booking=booking,
            entry=entry,
            events=[row_of(event) for event in events],
        )
        return Decided(answer, outcome, booking.status.value)

    def _newest(self, studio_id: str, body: BookingCreate, read: FactsRead) -> FactsRead:
        class_, spots = self._classes.get((studio_id, body.class_id), (read.class_, read.spots))
        member, credits = read.member, self._credits.get((studio_id, body.member_id))
        if member is not None and credits is not None:
            member = replace(member, credits=credits)
        live = self._live.get((studio_id, body.class_id, body.member_id), read.live)
        return replace(read, class_=class_, member=member, live=live, spots=spots)

    def _carry_on(self, studio_id: str, facts: BookingFacts) -> None:
        class_id, member_id = facts.class_.id, facts.member.id
        self._classes[studio_id, class_id] = facts.class_, facts.spots
        self._credits[studio_id, member_id] = facts.member.credits
        self._live[studio_id, class_id, member_id] = facts.live


def _seen_class(read: FactsRead, caller: Caller) -> str | None:
    """What a replay must check again: a refusal that told nothing of the class is told to anyone again."""
    return read.class_.id if read.class_ and caller.may_see(read.class_.location_id) else None


def known_facts(read: FactsRead, caller: Caller, body: BookingCreate) -> BookingFacts:
    if read.class_ is None or not caller.may_see(read.class_.location_id):
        raise NotFound(param="class_id")
    if read.member is None:
        raise NotFound(param="member_id")
    facts = read.complete()
    if not knows_spot(facts, body.class_spot_id):
        raise NotFound(param="class_spot_id")
    return facts


def seat_or_place(facts: BookingFacts, body: BookingCreate) -> Seat | Place:
    decision = decide_booking(facts, join_waitlist=body.join_waitlist, spot_id=body.class_spot_id)
    if isinstance(decision, Refusal):
        raise refusal(decision.check.code, decision.check.details, decision.check.param)
    return decision


def made_of(
    facts: BookingFacts, body: BookingCreate, decision: Seat | Place
) -> tuple[BookingRow, EntryRow | None]:
    booking = BookingRow(
        id=new_id(),
        class_id=body.class_id,
        member_id=body.member_id,
        location_id=facts.class_.location_id,
        status=BookingStatus.CONFIRMED if isinstance(decision, Seat) else BookingStatus.WAITLISTED,
        booking_source="partner_api",
        class_spot_id=decision.spot_id if isinstance(decision, Seat) else None,
        credits_charged=decision.credits_charged if isinstance(decision, Seat) else 0,
        promoted_at=None,
        created_at=facts.now,
        updated_at=facts.now,
    )
    if isinstance(decision, Seat):
        return booking, None
    entry = EntryRow(
        id=new_id(),
        class_id=body.class_id,
        member_id=body.member_id,
        booking_id=booking.id,
        location_id=facts.class_.location_id,
        position=decision.position,
        status=WaitlistStatus.WAITING,
    )
    return booking, entry
