"""Staff book a walk-in, promote or skip somebody who waits, and waive a late fee."""

from msgspec.structs import replace

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.actions.decide_bookings import build_rows, decide_or_raise, require_facts
from services.bookings.actions.end_holds import expire_run_out_holds
from services.bookings.actions.event_builders import COUNTS, booking_event, class_event, waitlist_event
from services.bookings.actions.lock_by_booking import Outdated, begins_anew
from services.bookings.actions.members import insert_member
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition, NoFeeToWaive, refusal
from services.bookings.rules.booking_decision import (
    Check,
    assign_spot,
    check_bookable,
    check_member,
    check_seat,
    seat_is_free,
)
from services.bookings.rules.booking_facts import BookingFacts
from services.bookings.rules.cancellation import terms_by_studio
from services.bookings.rules.eligibility import check_eligibility
from services.bookings.store import bookings, claim_and_lock, classes, desk, locks, studios, waitlist
from services.bookings.store.save_class_changes import read_receipt
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import (
    Booking,
    BookingCreate,
    BookingStatus,
    CancellationReceipt,
    WaitlistEntry,
    WaitlistStatus,
)
from services.bookings.wire.classes import Class
from services.bookings.wire.desk import WalkIn
from services.bookings.wire.members import MemberCreate
from shared.db.database import Connection
from shared.errors import NotFound, Problem
from shared.events.changes import previous_values
from shared.events.kinds import BookingCheckedIn, BookingCreated, ClassUpdated
from shared.events.outbox import add_event, add_events
from shared.http.caller import Caller, require_role
from shared.http.routes import PartialBody
from shared.observability.metrics import BOOKINGS


async def check_walk_in(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    if (given.fields.get("member_id") is None) != (given.fields.get("member") is None):
        return []
    return [Problem(("body", "member_id"), "Give either member_id or member.", "value_error")]


@begins_anew
async def book_walk_in(service: Bookings, caller: Caller, body: WalkIn) -> Booking:
    if body.override_capacity:
        require_role(caller.role, "manager")
    async with service.db.transaction() as conn:
        changes = await _lock(conn, caller, body.class_id, body.member_id)
        if changes is None:
            raise NotFound(param="class_id")
        member_id = body.member_id or await _add_member(conn, caller, body)
        await changes.lock_members(conn, [member_id])
        wanted = BookingCreate(
            class_id=body.class_id,
            member_id=member_id,
            class_spot_id=body.class_spot_id,
            join_waitlist=body.join_waitlist and not body.override_capacity,
        )
        stored = await claim_and_lock.read_facts(conn, caller, body.class_id, member_id, None)
        if stored.holds_due:
            raise Outdated
        facts = require_facts(stored, caller, wanted.class_spot_id)
        before = None
        if body.override_capacity and not seat_is_free(facts.class_):
            before = await _raise_capacity(conn, changes)
            facts = _with_one_more_seat(facts)
        booking, entry = build_rows(facts, caller, wanted, decide_or_raise(facts, caller, wanted))
        booking.booking_source = "studio"
        await desk.insert(conn, caller, booking, entry)
        changes.add(booking, waits=entry is not None)
        position = entry.position if entry else None
        events = [booking_event(BookingCreated, caller, booking, facts.now, position=position)]
        if entry is not None:
            events.append(waitlist_event(caller, entry, facts.now))
        await add_events(conn, events)
        if body.check_in and entry is None:
            changes.set_status(booking, BookingStatus.CHECKED_IN)
            changes.add_event(BookingCheckedIn, booking)
        await _save(conn, changes, before)
    BOOKINGS.labels(booking.status.value).inc()
    service.wakeup.notify()
    return booking.to_wire(position)


async def _lock(
    conn: Connection, caller: Caller, class_id: str, member_id: str | None
) -> ClassChanges | None:
    """Seats of holds that have run out belong to the waitlist first."""
    changes = await ClassChanges.lock(conn, caller, class_id)
    while changes is not None and changes.has_changes:
        await expire_run_out_holds(conn, caller, class_id, also_lock=[member_id] if member_id else [])
        changes = await ClassChanges.lock(conn, caller, class_id)
    return changes


async def _add_member(conn: Connection, caller: Caller, body: WalkIn) -> str:
    assert body.member is not None
    new = body.member
    created = MemberCreate(first_name=new.first_name, last_name=new.last_name, email=new.email)
    return (await insert_member(conn, caller, created)).id


def _with_one_more_seat(facts: BookingFacts) -> BookingFacts:
    """It is for this member, not for those who wait."""
    return replace(facts, class_=replace(facts.class_, capacity=facts.class_.capacity + 1, waitlist_count=0))


async def _raise_capacity(conn: Connection, changes: ClassChanges) -> Class:
    """By one. The class as it was shown before."""
    class_ = changes.class_
    shown = await classes.get(conn, changes.caller, class_.id)
    await classes.change(conn, changes.caller, class_.id, {"capacity": class_.capacity + 1})
    changes.class_ = replace(class_, capacity=class_.capacity + 1, version=class_.version + 1)
    return shown


async def _save(conn: Connection, changes: ClassChanges, before: Class | None) -> None:
    """`before` is the class before its capacity was raised, if it was."""
    await changes.save(conn, class_event_follows=before is not None)
    if before is not None:
        class_ = await classes.get(conn, changes.caller, before.id)
        previous = previous_values(before, class_, COUNTS)
        version, now = changes.class_.version, changes.now
        await add_event(
            conn, class_event(ClassUpdated, changes.caller, class_, version, now, previous=previous)
        )


async def _locked_entry(
    conn: Connection, caller: Caller, entry_id: str, after: WaitlistStatus
) -> tuple[ClassChanges, WaitlistRow]:
    """The entry, if it still waits."""
    found = await waitlist.get(conn, caller, entry_id)
    changes = await _lock(conn, caller, found.class_id, found.member_id)
    assert changes is not None
    await changes.load_waitlist(conn)
    entry = next((entry for entry in changes.waiting if entry.id == entry_id), None)
    if entry is None:
        raise InvalidStateTransition((await waitlist.get(conn, caller, entry_id)).status, after, [])
    return changes, entry


def _require(check: Check) -> None:
    if not check.passed:
        raise refusal(check.code, check.details, check.param)


async def promote_entry(
    service: Bookings, caller: Caller, entry_id: str, *, override_capacity: bool
) -> Booking:
    """Out of turn, into a free seat or one that is added."""
    if override_capacity:
        require_role(caller.role, "manager")
    async with service.db.transaction() as conn:
        changes, entry = await _locked_entry(conn, caller, entry_id, WaitlistStatus.CONVERTED)
        await changes.lock_members(conn, [entry.member_id])
        member = changes.members[entry.member_id]
        _require(check_bookable(changes.class_, changes.now))
        _require(check_member(changes.class_, member, changes.now))
        before = None
        if changes.class_.seats_left <= 0 and override_capacity:
            before = await _raise_capacity(conn, changes)
        if changes.class_.seats_left <= 0:
            _require(check_seat(changes.class_, join_waitlist=False)[0])
        spots = await locks.read_spots(conn, caller, entry.class_id, changes.now)
        changes.confirm(
            entry,
            credits_charged=check_eligibility(changes.class_, member, changes.now).credits_charged,
            spot_id=assign_spot(changes.class_.spot_selection_mode, spots, wished=None),
        )
        await _save(conn, changes, before)
        booking = await bookings.get(conn, caller, entry.booking_id)
    service.wakeup.notify()
    return booking


async def skip_entry(service: Bookings, caller: Caller, entry_id: str) -> WaitlistEntry:
    """Its booking is cancelled, which costs nothing."""
    async with service.db.transaction() as conn:
        changes, entry = await _locked_entry(conn, caller, entry_id, WaitlistStatus.SKIPPED)
        booking = changes.bookings[entry.booking_id]
        policy = await studios.policy(conn, caller)
        terms = terms_by_studio(booking.to_cancel(changes.class_.start_time), policy, changes.now)
        changes.cancel(booking, terms, None, WaitlistStatus.SKIPPED)
        await changes.save(conn)
    service.wakeup.notify()
    return entry.to_wire()


async def waive_fee(service: Bookings, caller: Caller, booking_id: str) -> CancellationReceipt:
    """The fee of a late cancellation. Partners see it where they see the receipt."""
    async with service.db.transaction() as conn:
        waived = await desk.waive_fee(conn, caller, booking_id)
        receipt = await read_receipt(conn, caller, booking_id)
        if waived and receipt is not None:
            return receipt
        await bookings.get(conn, caller, booking_id)
        raise NoFeeToWaive(details={"late_fee_status": receipt.late_fee_status if receipt else None})
