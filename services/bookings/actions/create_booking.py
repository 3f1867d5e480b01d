"""Book a class: a seat, a place on the waitlist, or a refusal, stored for replay like any other response.

Requests that arrive while others are being written are decided and written as one batch, in one transaction.
"""

import asyncio
from collections.abc import Sequence

import structlog
from msgspec import Struct

from services.bookings.actions.decide_bookings import BatchDecider, DecidedBooking
from services.bookings.actions.end_holds import expire_run_out_holds
from services.bookings.context import Bookings
from services.bookings.store import claim_and_lock, insert_bookings
from services.bookings.store.claim_and_lock import Claimed, ClaimRequest
from services.bookings.wire.bookings import BookingCreate
from shared.db.database import Connection
from shared.db.unavailable import is_unavailable
from shared.errors import DomainError, NotFound, Problem
from shared.http.caller import Caller
from shared.http.idempotency import stored_responses
from shared.http.idempotency.once import IdempotentRequest, replay
from shared.http.response import Response
from shared.http.routes import PartialBody
from shared.observability.metrics import BOOKINGS

log = structlog.get_logger("bookings")

DedupKey = tuple[str, str, str]
Result = Response | Exception | None


class HoldsRanOut(Exception):
    """Found once members are locked. Expiring may lock those who wait, too, and all at once: start over."""


class BookingRequest(Struct, frozen=True):
    caller: Caller
    request: IdempotentRequest
    body: BookingCreate

    @property
    def queue_key(self) -> tuple[str, str]:
        """The class: its row is locked, so only one transaction at a time can book it anyway."""
        return self.caller.studio_id, self.body.class_id

    @property
    def dedup_key(self) -> DedupKey:
        """An advisory lock does not keep out a second request in the same transaction."""
        return self.caller.studio_id, self.caller.client_id, self.request.key

    @property
    def claim(self) -> ClaimRequest:
        holder = self.caller.client_id if self.body.hold_seconds is not None else None
        return ClaimRequest(
            studio_id=self.caller.studio_id,
            client_id=self.caller.client_id,
            key=self.request.key,
            class_id=self.body.class_id,
            member_id=self.body.member_id,
            holder=holder,
        )


async def check_hold(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    if given.fields.get("hold_seconds") is None or not given.fields.get("join_waitlist"):
        return []
    text = "A place on the waitlist cannot be held: leave out hold_seconds or join_waitlist."
    return [Problem(("body", "hold_seconds"), text, "value_error")]


async def create_booking(
    service: Bookings, caller: Caller, request: IdempotentRequest, body: BookingCreate
) -> Response:
    async def run(requests: Sequence[BookingRequest], wait_for_locks: bool) -> Sequence[Result]:
        return await book_batch(service, requests, wait_for_locks=wait_for_locks)

    return await service.batcher.submit(BookingRequest(caller, request, body), run)


async def book_batch(
    service: Bookings, requests: Sequence[BookingRequest], *, wait_for_locks: bool
) -> Sequence[Result]:
    """One result per request. None: another transaction holds its key, class or member.

    With `wait_for_locks` all requests are for one class.
    """
    if wait_for_locks:
        return await _book_one_class(service, requests)
    try:
        results = await _book(service, requests)
    except Exception as problem:
        if is_unavailable(problem):
            raise
        # One request that cannot be written must not fail the others: retry class by class, then one by one.
        log.error("booking_batch_failed", requests=len(requests), exc_info=True)
        return [None] * len(requests)
    return [results[request.dedup_key] for request in requests]


async def _book_one_class(service: Bookings, requests: Sequence[BookingRequest]) -> Sequence[Result]:
    try:
        results = await _book(service, requests, wait_for_locks=True)
    except Exception as problem:
        if len(requests) == 1 or is_unavailable(problem):
            raise
        log.error("booking_batch_failed", requests=len(requests), exc_info=True)
        return [await _book_one(service, request) for request in requests]
    blocked = [request for request in requests if results[request.dedup_key] is None]
    results |= zip(
        (request.dedup_key for request in blocked),
        await asyncio.gather(*(_book_one(service, request) for request in blocked)),
        strict=True,
    )
    return [results[request.dedup_key] for request in requests]


async def _book_one(service: Bookings, request: BookingRequest) -> Result:
    """Waits for its idempotency key too, and holds no other lock meanwhile."""
    try:
        return (await _book(service, [request], wait_for_locks=True, wait_for_key=True))[request.dedup_key]
    except Exception as problem:
        return problem


async def _book(
    service: Bookings,
    requests: Sequence[BookingRequest],
    *,
    wait_for_locks: bool = False,
    wait_for_key: bool = False,
) -> dict[DedupKey, Result]:
    try:
        return await _book_once(service, requests, wait_for_locks, wait_for_key)
    except HoldsRanOut:
        return await _book_once(service, requests, wait_for_locks, wait_for_key, expire_first=True)


async def _book_once(
    service: Bookings,
    requests: Sequence[BookingRequest],
    wait_for_locks: bool,
    wait_for_key: bool,
    *,
    expire_first: bool = False,
) -> dict[DedupKey, Result]:
    results: dict[DedupKey, Result] = {}
    new: list[DecidedBooking] = []
    decider = BatchDecider()
    async with service.db.transaction() as conn:
        if wait_for_key:
            await stored_responses.wait_for_key(conn, requests[0].caller, requests[0].request.key)
        # Locks that are waited for are taken in member-id order; seats still go first come, first served.
        lock_order = sorted(requests, key=lambda one: one.body.member_id) if wait_for_locks else requests
        claims = await _claim(conn, lock_order, wait_for_locks, expire_first)
        claimed = dict(zip((request.dedup_key for request in lock_order), claims, strict=True))
        for request in requests:
            found = claimed[request.dedup_key]
            if found.facts is not None and found.facts.holds_due:
                results[request.dedup_key] = None  # again, waiting for locks
            elif found.claim.state == "new":
                assert found.facts is not None
                decided = decider.decide(request.caller, request.request, request.body, found.facts)
                new.append(decided)
                results[request.dedup_key] = decided.response
            else:
                is_stored = found.claim.state == "stored"
                results[request.dedup_key] = _replay(request, found) if is_stored else None
        if new:
            await insert_bookings.insert(conn, [decided.outcome for decided in new])
    for decided in new:
        BOOKINGS.labels(decided.label).inc()
    if any(decided.outcome.events for decided in new):
        service.wakeup.notify()
    return results


async def _claim(
    conn: Connection, requests: Sequence[BookingRequest], wait_for_locks: bool, expire_first: bool
) -> list[Claimed]:
    """When it waits for locks, the class has no hold that has run out."""
    members = [request.body.member_id for request in requests]
    caller, class_id = requests[0].caller, requests[0].body.class_id
    if expire_first:
        await expire_run_out_holds(conn, caller, class_id, also_lock=members)
    while True:
        claims = await claim_and_lock.claim_and_lock(
            conn, [request.claim for request in requests], wait=wait_for_locks
        )
        due = any(found.facts is not None and found.facts.holds_due for found in claims)
        if not due or not wait_for_locks:
            return claims
        if not expire_first:
            raise HoldsRanOut
        # Another one since. Its class and all members are locked already.
        await expire_run_out_holds(conn, caller, class_id, also_lock=members)


def _replay(request: BookingRequest, found: Claimed) -> Response | DomainError:
    """Checks the location again: another API key of the same client may see fewer locations."""
    try:
        response = replay(request.request, found.claim)
    except DomainError as problem:
        return problem
    hidden = found.class_id is not None and not request.caller.may_see(found.location_id)
    return NotFound() if hidden and response.status != 404 else response
