"""Decides the bookings of a batch one by one: each sees the effect of those before it."""

from collections import Counter
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import replace

from services.bookings.actions.event_builders import booking_event, waitlist_event
from services.bookings.context import Bookings
from services.bookings.errors import refusal
from services.bookings.rules.booking_decision import (
    HoldWish,
    Refusal,
    Seat,
    WaitlistPlace,
    decide_booking,
    facts_after,
    knows_spot,
    run_checks,
)
from services.bookings.rules.booking_facts import BookingFacts, ClassFacts, LiveBooking, SpotFacts
from services.bookings.store import claim_and_lock
from services.bookings.store.bookings import BookingRow
from services.bookings.store.claim_and_lock import StoredFacts
from services.bookings.store.insert_bookings import FullClass, Outcome
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import (
    BookingCreate,
    BookingPreview,
    BookingStatus,
    PreviewCheck,
    WaitlistStatus,
)
from shared.errors import NotFound
from shared.events.kinds import BookingCreated, BookingHeld, ClassFull
from shared.events.outbox import row_of
from shared.http.caller import Caller
from shared.http.error_mapping import response_for
from shared.http.idempotency.once import REPLAYABLE_ERRORS, IdempotentRequest
from shared.http.response import Response
from shared.wire import encode, new_id


class DecidedBooking(Struct, frozen=True):
    """`label` is the metric's label: the booking's status, or the code of the refusal."""

    response: Response
    outcome: Outcome
    label: str


class BatchDecider:
    """Keeps the facts current: they are read once, before the first decision. Keys are studio and id."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, str], tuple[ClassFacts, list[SpotFacts]]] = {}
        # Credits only, not the whole member: the facts of a free class leave the memberships out.
        self._credits: dict[tuple[str, str], int] = {}
        self._live: dict[tuple[str, str, str], LiveBooking | None] = {}
        self._holds: Counter[tuple[str, str, str]] = Counter()  # by client, those of this batch

    def decide(
        self, caller: Caller, request: IdempotentRequest, body: BookingCreate, stored: StoredFacts
    ) -> DecidedBooking:
        try:
            facts = require_facts(self._current(caller, body, stored), caller, body.class_spot_id)
            decision = decide_or_raise(facts, caller, body)
        except REPLAYABLE_ERRORS as problem:
            response = response_for(problem, caller.request_id)
            outcome = Outcome(
                studio_id=caller.studio_id,
                client_id=caller.client_id,
                response=request.stored_response(response, None),
            )
            return DecidedBooking(response, outcome, problem.code)
        booking, entry = build_rows(facts, caller, body, decision)
        after = facts_after(facts, decision, booking.id)
        self._remember(caller, after)
        position = entry.position if entry else None
        response = Response(encode(booking.to_wire(position)), 201)
        kind = BookingHeld if booking.only_held else BookingCreated
        events = [booking_event(kind, caller, booking, facts.now, position=position)]
        if entry is not None:
            events.append(waitlist_event(caller, entry, facts.now))
        outcome = Outcome(
            studio_id=caller.studio_id,
            client_id=caller.client_id,
            response=request.stored_response(response, booking.id),
            booking=booking,
            entry=entry,
            events=[row_of(event) for event in events],
            class_full=_class_full(caller, after) if entry is None and after.class_.seats_left == 0 else None,
        )
        return DecidedBooking(response, outcome, booking.status.value)

    def _current(self, caller: Caller, body: BookingCreate, stored: StoredFacts) -> StoredFacts:
        studio_id = caller.studio_id
        class_, spots = self._classes.get((studio_id, body.class_id), (stored.class_, stored.spots))
        member, credits = stored.member, self._credits.get((studio_id, body.member_id))
        if member is not None and credits is not None:
            member = replace(member, credits=credits)
        live = self._live.get((studio_id, body.class_id, body.member_id), stored.live)
        holds = stored.holds
        if holds is not None:
            more = self._holds[studio_id, body.class_id, caller.client_id]
            holds = replace(holds, of_client=holds.of_client + more)
        return replace(stored, class_=class_, member=member, live=live, spots=spots, holds=holds)

    def _remember(self, caller: Caller, facts: BookingFacts) -> None:
        studio_id, class_id, member_id = caller.studio_id, facts.class_.id, facts.member.id
        if facts.live is not None and facts.live.status is BookingStatus.HELD:
            self._holds[studio_id, class_id, caller.client_id] += 1
        self._classes[studio_id, class_id] = facts.class_, facts.spots
        self._credits[studio_id, member_id] = facts.member.credits
        self._live[studio_id, class_id, member_id] = facts.live


def _class_full(caller: Caller, facts: BookingFacts) -> FullClass:
    """`facts` are those after the booking. The class itself is added when its row is stored: the facts do not
    contain all its fields, and reading it would be another round trip.
    """
    class_ = facts.class_
    location, version = class_.location_id, class_.version
    event = caller.event(ClassFull, class_.id, version, Raw(b"null"), location_id=location, at=facts.now)
    row = row_of(event)
    return FullClass(
        replace(row, envelope=row.envelope.removesuffix(b"null}}")),
        class_.id,
        f'{class_.booked_count},"available_count":0,"held_count":{class_.held_count}',
    )


def require_facts(stored: StoredFacts, caller: Caller, spot_id: str | None) -> BookingFacts:
    if stored.class_ is None or not caller.may_see(stored.class_.location_id):
        raise NotFound(param="class_id")
    if stored.member is None:
        raise NotFound(param="member_id")
    facts = stored.complete()
    if not knows_spot(facts, spot_id):
        raise NotFound(param="class_spot_id")
    return facts


def hold_wish(caller: Caller, body: BookingCreate) -> HoldWish | None:
    return HoldWish(body.hold_seconds, caller.hold_share) if body.hold_seconds is not None else None


def decide_or_raise(facts: BookingFacts, caller: Caller, body: BookingCreate) -> Seat | WaitlistPlace:
    decision = decide_booking(
        facts,
        join_waitlist=body.join_waitlist,
        spot_id=body.class_spot_id,
        hold=hold_wish(caller, body),
    )
    if isinstance(decision, Refusal):
        raise refusal(decision.check.code, decision.check.details, decision.check.param)
    return decision


def build_rows(
    facts: BookingFacts, caller: Caller, body: BookingCreate, decision: Seat | WaitlistPlace
) -> tuple[BookingRow, WaitlistRow | None]:
    held_until = decision.held_until if isinstance(decision, Seat) else None
    booking = BookingRow(
        id=new_id(),
        class_id=body.class_id,
        member_id=body.member_id,
        location_id=facts.class_.location_id,
        status=BookingStatus.WAITLISTED
        if isinstance(decision, WaitlistPlace)
        else BookingStatus.HELD
        if held_until
        else BookingStatus.CONFIRMED,
        booking_source="partner_api",
        class_spot_id=decision.spot_id if isinstance(decision, Seat) else None,
        credits_charged=decision.credits_charged if isinstance(decision, Seat) else 0,
        promoted_at=None,
        created_at=facts.now,
        updated_at=facts.now,
        held_until=held_until,
        held_by=caller.client_id if held_until else None,
        only_held=held_until is not None,
    )
    if isinstance(decision, Seat):
        return booking, None
    entry = WaitlistRow(
        id=new_id(),
        class_id=body.class_id,
        member_id=body.member_id,
        booking_id=booking.id,
        location_id=facts.class_.location_id,
        position=decision.position,
        status=WaitlistStatus.WAITING,
    )
    return booking, entry


async def preview_booking(service: Bookings, caller: Caller, body: BookingCreate) -> BookingPreview:
    async with service.db.connection() as conn:
        holder = caller.client_id if body.hold_seconds is not None else None
        stored = await claim_and_lock.read_facts(conn, caller, body.class_id, body.member_id, holder)
    facts = require_facts(stored, caller, body.class_spot_id)
    wishes: dict[str, Any] = {
        "join_waitlist": body.join_waitlist,
        "spot_id": body.class_spot_id,
        "hold": hold_wish(caller, body),
    }
    decision, checks = decide_booking(facts, **wishes), run_checks(facts, **wishes)
    return BookingPreview(
        outcome="refused"
        if isinstance(decision, Refusal)
        else "waitlisted"
        if isinstance(decision, WaitlistPlace)
        else "held"
        if decision.held_until
        else "confirmed",
        waitlist_position=decision.position if isinstance(decision, WaitlistPlace) else None,
        code=decision.check.code if isinstance(decision, Refusal) else None,
        checks=[
            PreviewCheck(code=check.code, passed=check.passed, details=check.details) for check in checks
        ],
    )
