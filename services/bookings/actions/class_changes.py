"""Changes to one class under its lock: collected here, then saved with their events in one go."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec import UNSET

from services.bookings.actions.event_builders import Previous, booking_event, class_event, waitlist_event
from services.bookings.rules.booking_facts import ClassFacts, MemberFacts, SpotFacts
from services.bookings.rules.cancellation import Policy, Terms, terms_by_studio
from services.bookings.rules.transitions import SEATED, Waiting, decide_promotion, seat_change
from services.bookings.store import bookings, classes, locks, save_class_changes, waitlist
from services.bookings.store.bookings import BookingRow
from services.bookings.store.save_class_changes import ReceiptRow
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt, WaitlistStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from services.bookings.wire.field_types import format_money
from shared.db.database import Connection
from shared.events.event import Event, Kind
from shared.events.kinds import BookingCancelled, BookingConfirmed, ClassFull, ClassReopened
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.wire import new_id


def build_receipt(row: ReceiptRow, booking: BookingRow) -> CancellationReceipt:
    derived = {
        "id": row.id or None,
        "class_id": booking.class_id,
        "member_id": booking.member_id,
        "late_fee_amount": format_money(row.late_fee_amount),
        "credit_forfeited": row.credits_forfeited > 0,
    }
    return CancellationReceipt(**msgspec.structs.asdict(row) | derived)


class ClassChanges:
    """A unit of work on one class: seats, waitlist, credits and receipts."""

    def __init__(self, caller: Caller, class_: ClassFacts, now: datetime) -> None:
        self.caller = caller
        self.class_ = class_
        self.was_full = class_.seats_left <= 0
        self.now = now
        self.waiting: list[WaitlistRow] = []
        self.bookings: dict[str, BookingRow] = {}
        self._entries: dict[str, WaitlistRow] = {}
        self._changed: dict[str, BookingRow] = {}
        self._credits: Counter[str] = Counter()
        self._receipts: list[ReceiptRow] = []
        self._booking_events: list[tuple[Kind, BookingRow, Previous]] = []
        self._locked_members: frozenset[str] = frozenset()

    @classmethod
    async def lock(cls, conn: Connection, caller: Caller, class_id: str) -> "ClassChanges | None":
        """Locks the class. None if the studio has no such class."""
        locked = await locks.lock_class(conn, caller, class_id)
        return cls(caller, locked.class_, locked.now) if locked else None

    def add_event(self, kind: Kind, booking: BookingRow, previous: Previous = UNSET) -> None:
        """Adds an event with the booking's state at `save`."""
        self._booking_events.append((kind, booking, previous))

    async def load_waitlist(self, conn: Connection) -> None:
        if self.class_.waitlist_count == 0:
            return
        self.waiting = await waitlist.read_waiting(conn, self.caller, self.class_.id)
        for booking in await bookings.read_waiting(conn, self.caller, self.class_.id):
            self.bookings.setdefault(booking.id, booking)

    async def lock_members(self, conn: Connection, member_ids: Iterable[str]) -> dict[str, MemberFacts]:
        """Once per transaction: a second call could lock a lower id than the first, and deadlock."""
        assert not self._locked_members
        self._locked_members = frozenset(member_ids)
        return await locks.lock_members(conn, self.caller, self._locked_members)

    def add(self, booking: BookingRow, *, waits: bool) -> None:
        """A new booking, which the caller inserts. It takes a seat and its credits, or waits."""
        self.class_ = msgspec.structs.replace(
            self.class_,
            booked_count=self.class_.booked_count + (not waits),
            waitlist_count=self.class_.waitlist_count + waits,
        )
        if booking.credits_charged:
            self._credits[booking.member_id] -= booking.credits_charged

    def set_status(self, booking: BookingRow, status: BookingStatus) -> None:
        """Also takes or frees the seat."""
        self.class_ = msgspec.structs.replace(
            self.class_, booked_count=self.class_.booked_count + seat_change(booking.status, status)
        )
        booking.status = status
        booking.version += 1
        booking.updated_at = self.now
        self._changed[booking.id] = booking

    def cancel(
        self,
        booking: BookingRow,
        terms: Terms,
        reason: str | None,
        waitlist_status: WaitlistStatus = WaitlistStatus.CANCELLED,
    ) -> CancellationReceipt:
        """`waitlist_status` is what the entry of a waitlisted booking becomes."""
        if booking.status is BookingStatus.WAITLISTED:
            self.leave_waitlist(self.entry_of(booking), waitlist_status)
        self.set_status(booking, BookingStatus.CANCELLED)
        if terms.credits_restored:
            self._credits[booking.member_id] += terms.credits_restored
        receipt = ReceiptRow(
            id=new_id(),
            booking_id=booking.id,
            cancelled_at=self.now,
            reason=reason,
            **msgspec.structs.asdict(terms),
        )
        self._receipts.append(receipt)
        self.add_event(BookingCancelled, booking)
        return build_receipt(receipt, booking)

    def confirm(self, entry: WaitlistRow, *, credits_charged: int, spot_id: str | None) -> None:
        booking = self.bookings[entry.booking_id]
        self.leave_waitlist(entry, WaitlistStatus.CONVERTED)
        self.set_status(booking, BookingStatus.CONFIRMED)
        booking.class_spot_id = spot_id
        booking.credits_charged = credits_charged
        booking.promoted_at = self.now
        if credits_charged:
            self._credits[booking.member_id] -= credits_charged
        self.add_event(BookingConfirmed, booking)

    def leave_waitlist(self, entry: WaitlistRow, status: WaitlistStatus) -> None:
        """Final. The entry keeps its last position; those behind it move up on `save`."""
        self.waiting.remove(entry)
        entry.status = status
        entry.version += 1
        self._entries[entry.id] = entry
        self.class_ = msgspec.structs.replace(self.class_, waitlist_count=len(self.waiting))

    def entry_of(self, booking: BookingRow) -> WaitlistRow:
        return next(entry for entry in self.waiting if entry.booking_id == booking.id)

    def with_freed_spots(self, spots: list[SpotFacts]) -> list[SpotFacts]:
        """The spots as they will be after `save`."""
        freed = {booking.class_spot_id for booking in self._changed.values() if booking.status not in SEATED}
        return [SpotFacts(id=spot.id, taken=spot.taken and spot.id not in freed) for spot in spots]

    async def save(
        self, conn: Connection, *, send_events: bool = True, class_event_follows: bool = False
    ) -> None:
        """`class_event_follows`: that event gets the class's new version, and ours the one before."""
        self._renumber_waitlist()
        version = self.class_.version + (not class_event_follows)
        assert set(self._credits) <= self._locked_members
        self.class_ = msgspec.structs.replace(self.class_, version=self.class_.version + 1)
        await save_class_changes.save(
            conn,
            self.caller,
            self.class_,
            now=self.now,
            bookings=list(self._changed.values()),
            entries=list(self._entries.values()),
            credits=self._credits,
            receipts=self._receipts,
        )
        if send_events:
            await add_events(conn, [*self._events(), *await self._availability_events(conn, version)])

    def _renumber_waitlist(self) -> None:
        for position, entry in enumerate(self.waiting, 1):
            if entry.position != position:
                entry.position = position
                entry.version += 1
                self._entries[entry.id] = entry

    def _events(self) -> Iterable[Event]:
        for kind, booking, previous in self._booking_events:
            yield booking_event(kind, self.caller, booking, self.now, previous=previous)
        for entry in self._entries.values():
            yield waitlist_event(self.caller, entry, self.now)

    async def _availability_events(self, conn: Connection, version: int) -> list[Event]:
        """A cancelled class has none: its cancellation event has the counts."""
        is_full = self.class_.seats_left <= 0
        if is_full == self.was_full or self.class_.status is ClassStatus.CANCELLED:
            return []
        shown = await classes.get(conn, self.caller, self.class_.id)
        kind = ClassFull if is_full else ClassReopened
        return [class_event(kind, self.caller, shown, version, self.now)]


async def promote_waitlist(
    conn: Connection, changes: ClassChanges, policy: Policy, *, credited: str | None = None
) -> None:
    """`credited` is a member who gets credits back in this transaction, locked together with the others."""
    class_ = changes.class_
    candidates = changes.waiting if class_.seats_left > 0 else []
    wanted = {entry.member_id for entry in candidates} | ({credited} if credited else set())
    if not wanted:
        return
    members = await changes.lock_members(conn, wanted)
    chooses = class_.spot_selection_mode not in (None, SpotMode.NONE)
    spots = await locks.read_spots(conn, changes.caller, class_.id) if chooses and candidates else []
    spots = changes.with_freed_spots(spots)
    decision = decide_promotion(
        class_,
        [Waiting(entry_id=entry.id, member=members[entry.member_id]) for entry in candidates],
        spots,
        changes.now,
    )
    by_id = {entry.id: entry for entry in candidates}
    for entry_id in decision.skipped:
        booking = changes.bookings[by_id[entry_id].booking_id]
        terms = terms_by_studio(booking.held(class_.start_time), policy, changes.now)
        changes.cancel(booking, terms, None, WaitlistStatus.SKIPPED)
    for promoted in decision.promoted:
        entry = by_id[promoted.entry_id]
        changes.confirm(entry, credits_charged=promoted.credits_charged, spot_id=promoted.spot_id)
