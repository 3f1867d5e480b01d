"""Book a class: a seat, a place in the queue, or a refusal that is kept like an answer.

Asks that come while others are being written are decided and written together, in one transaction.
"""

import asyncio
from collections.abc import Sequence

import structlog
from msgspec import Struct

from services.bookings.actions.decide_bookings import Decided, Deciding
from services.bookings.actions.idempotently import Keyed, replay
from services.bookings.context import Bookings, Stage
from services.bookings.store import booking_start, booking_write, idempotency
from services.bookings.store.booking_start import Asked
from services.bookings.store.idempotency import Claim
from services.bookings.wire.bookings import BookingCreate
from shared.db.unavailable import is_unavailable
from shared.errors import DomainError
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.observability.metrics import BOOKINGS

log = structlog.get_logger("bookings")

Mark = tuple[str, str, str]
Result = Answer | Exception | None


class Ask(Struct, frozen=True):
    caller: Caller
    request: Keyed
    body: BookingCreate

    @property
    def line(self) -> tuple[str, str]:
        """Its row is locked: a class is booked by one transaction at a time anyway."""
        return self.caller.studio_id, self.body.class_id

    @property
    def mark(self) -> Mark:
        """A key's lock does not hold off a second ask in the same transaction."""
        return self.caller.studio_id, self.caller.client_id, self.request.key

    @property
    def asked(self) -> Asked:
        return Asked(*self.mark, self.body.class_id, self.body.member_id)


async def create_booking(service: Bookings, caller: Caller, request: Keyed, body: BookingCreate) -> Answer:
    async def serve(asks: Sequence[Ask], patient: bool) -> Sequence[Result]:
        return await book_together(service, asks, patient=patient)

    return await service.together.served(Ask(caller, request, body), serve)


async def book_together(service: Bookings, asks: Sequence[Ask], *, patient: bool) -> Sequence[Result]:
    """A result for each ask. None: its key, class or member is held elsewhere, and it was not to wait.

    Patient asks are all of one class.
    """
    if patient:
        return await _book_patiently(service, asks)
    try:
        results = await _book(service, asks)
    except Exception as problem:
        if is_unavailable(problem):
            raise
        # One that cannot be written must not cost the others theirs: class by class, then one by one.
        log.error("bookings_taken_apart", asks=len(asks), exc_info=True)
        return [None] * len(asks)
    return [results[ask.mark] for ask in asks]


async def _book_patiently(service: Bookings, asks: Sequence[Ask]) -> Sequence[Result]:
    try:
        results = await _book(service, asks, patient=True)
    except Exception as problem:
        if len(asks) == 1 or is_unavailable(problem):
            raise
        log.error("bookings_taken_apart", asks=len(asks), exc_info=True)
        return [await _book_alone(service, ask) for ask in asks]
    waiting = [ask for ask in asks if results[ask.mark] is None]
    results |= zip(
        (ask.mark for ask in waiting),
        await asyncio.gather(*(_book_alone(service, ask) for ask in waiting)),
        strict=True,
    )
    return [results[ask.mark] for ask in asks]


async def _book_alone(service: Bookings, ask: Ask) -> Result:
    """Waits for its key, too; nothing else is locked meanwhile."""
    try:
        return (await _book(service, [ask], patient=True, wait_for_key=True))[ask.mark]
    except Exception as problem:
        return problem


async def _book(
    service: Bookings, asks: Sequence[Ask], *, patient: bool = False, wait_for_key: bool = False
) -> dict[Mark, Result]:
    results: dict[Mark, Result] = {}
    made: list[Decided] = []
    deciding = Deciding()
    async with service.db.transaction() as conn:
        if wait_for_key:
            await idempotency.wait_for_key(conn, asks[0].caller, asks[0].request.key)
        # Locks are taken in the order of member ids where they are waited for; seats go to who came first.
        locking = sorted(asks, key=lambda ask: ask.body.member_id) if patient else asks
        begun = await booking_start.start(conn, [ask.asked for ask in locking], patient=patient)
        started = dict(zip((ask.mark for ask in locking), begun, strict=True))
        service.reached(Stage.CLAIMED)
        for ask in asks:
            claim, read = started[ask.mark]
            if claim.state == "new":
                assert read is not None
                decided = deciding.decide(ask.caller, ask.request, ask.body, read)
                made.append(decided)
                results[ask.mark] = decided.answer
            else:
                results[ask.mark] = _replayed(ask, claim) if claim.state == "stored" else None
        service.reached(Stage.DECIDED)
        if made:
            await booking_write.write(conn, [decided.outcome for decided in made])
        service.reached(Stage.WRITTEN)
    service.reached(Stage.COMMITTED)
    for decided in made:
        BOOKINGS.labels(decided.label).inc()
    if any(decided.outcome.events for decided in made):
        service.wakeup.notify()
    return results


def _replayed(ask: Ask, claim: Claim) -> Answer | DomainError:
    try:
        return replay(ask.request, claim, ask.caller)
    except DomainError as problem:
        return problem
