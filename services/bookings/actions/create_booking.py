"""Book a class: a seat, a place in the queue, or a refusal that is kept like an answer."""

from services.bookings.actions.idempotently import Keyed, Refused, refused, replay
from services.bookings.actions.telling import booking_event, entry_event
from services.bookings.context import Bookings, Stage
from services.bookings.errors import refusal
from services.bookings.rules.booking import Decision, Place, Refusal, Seat, decide_booking, knows_spot
from services.bookings.rules.facts import BookingFacts
from services.bookings.store import booking_write, idempotency
from services.bookings.store.booking_write import FactsRead
from services.bookings.store.rows import BookingRow, EntryRow
from services.bookings.wire.bookings import BookingCreate, BookingStatus
from services.bookings.wire.waitlist import WaitlistStatus
from shared.caller import Caller
from shared.errors import NotFound
from shared.events import BookingCreated
from shared.metrics import BOOKINGS
from shared.outbox import row_of
from shared.routes import Answer
from shared.wire import encode, new_id


async def create_booking(service: Bookings, caller: Caller, request: Keyed, body: BookingCreate) -> Answer:
    async with service.db.transaction() as conn:
        claim, read = await booking_write.start(conn, caller, request.key, body.class_id, body.member_id)
        if claim.state == "busy":
            await idempotency.wait_for_key(conn, caller, request.key)
            claim, read = await booking_write.start(conn, caller, request.key, body.class_id, body.member_id)
        if read is None:
            return replay(request, claim, caller)
        service.reached(Stage.CLAIMED)
        try:
            facts = known_facts(read, caller, body)
            decision = seat_or_place(facts, body)
        except Refused as problem:
            answer = refused(problem, caller)
            BOOKINGS.labels(problem.code).inc()
            await idempotency.keep(
                conn, caller, request.kept(answer, resource_id=None, class_id=_seen_class(read, caller))
            )
            return answer
        booking, entry = made_of(facts, body, decision)
        answer = Answer(encode(booking.shown(entry.position if entry else None)), 201)
        events = [
            booking_event(
                BookingCreated, caller, booking, facts.now, position=entry.position if entry else None
            )
        ]
        if entry is not None:
            events.append(entry_event(caller, entry, facts.now))
        service.reached(Stage.DECIDED)
        kept = request.kept(answer, resource_id=booking.id, class_id=booking.class_id)
        await booking_write.write(conn, caller, booking, entry, [row_of(event) for event in events], kept)
        service.reached(Stage.WRITTEN)
    service.reached(Stage.COMMITTED)
    BOOKINGS.labels(booking.status.value).inc()
    service.bell.ring()
    return answer


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
    decision: Decision = decide_booking(facts, join_waitlist=body.join_waitlist, spot_id=body.class_spot_id)
    if isinstance(decision, Refusal):
        raise refusal(decision.check.code, decision.check.details, decision.check.param)
    return decision


def made_of(
    facts: BookingFacts, body: BookingCreate, decision: Seat | Place
) -> tuple[BookingRow, EntryRow | None]:
    seated = isinstance(decision, Seat)
    booking = BookingRow(
        id=new_id(),
        class_id=body.class_id,
        member_id=body.member_id,
        location_id=facts.class_.location_id,
        status=BookingStatus.CONFIRMED if seated else BookingStatus.WAITLISTED,
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
