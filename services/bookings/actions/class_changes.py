"""Changes to one class under its lock: collected here, then saved with their events in one go."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import msgspec
from msgspec import UNSET

from services.bookings.actions.event_builders import Previous, booking_event, class_event, waitlist_event
from services.bookings.rules.booking_facts import ClassFacts, MemberFacts, SpotFacts
from services.bookings.rules.cancellation import Policy, Terms, terms_by_studio
from services.bookings.rules.rescheduling import NewSeat
from services.bookings.rules.transitions import SEATED, Waiting, decide_promotion, seat_change
from services.bookings.store import bookings, classes, locks, save_class_changes, waitlist
from services.bookings.store.bookings import BookingRow
from services.bookings.store.save_class_changes import ReceiptRow, RescheduleRow
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt, WaitlistStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from services.bookings.wire.field_types import format_money
from shared.db.database import Connection
from shared.errors import NotFound
from shared.events.changes import for_both_locations
from shared.events.event import Event, Kind
from shared.events.kinds import (
    BookingCancelled,
    BookingConfirmed,
    BookingRescheduled,
    ClassFull,
    ClassReopened,
)
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.wire import new_id

P = ParamSpec("P")
T = TypeVar("T")


def build_receipt(row: ReceiptRow, booking: BookingRow) -> CancellationReceipt:
    derived = {
        "id": row.id or None,
        "class_id": booking.class_id,
        "member_id": booking.member_id,
        "late_fee_amount": format_money(row.late_fee_amount),
        "credit_forfeited": row.credits_forfeited > 0,
    }
    return CancellationReceipt(**msgspec.structs.asdict(row) | derived)


class BookingMoved(Exception):
    """The booking was moved to another class while we waited for the lock of the one that it was in."""


def begins_anew(action: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Repeats an action on a booking that has moved meanwhile. Its transaction has given up its locks."""

    @wraps(action)
    async def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        while True:
            try:
                return await action(*args, **kwargs)
            except BookingMoved:
                continue

    return repeated


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
        self._moves: list[RescheduleRow] = []
        self._left_spots: set[str | None] = set()
        self._move_events: list[tuple[BookingRow, dict[str, Any]]] = []
        self._booking_events: list[tuple[Kind, BookingRow, Previous]] = []
        self._locked_members: frozenset[str] = frozenset()

    @classmethod
    async def lock(cls, conn: Connection, caller: Caller, class_id: str) -> "ClassChanges | None":
        """Locks the class. None if the studio has no such class."""
        locked = await locks.lock_class(conn, caller, class_id)
        return cls(caller, locked.class_, locked.now) if locked else None

    @classmethod
    async def lock_by_booking(
        cls, conn: Connection, caller: Caller, booking_id: str
    ) -> tuple["ClassChanges", BookingRow]:
        """Locks the class that the booking is in. The action that calls this `begins_anew`."""
        found = await bookings.read(conn, caller, booking_id)
        changes = await cls.lock(conn, caller, found.class_id) if found else None
        booking = await bookings.read(conn, caller, booking_id) if found else None
        if changes is None or booking is None:
            raise NotFound
        if booking.class_id != changes.class_.id:
            raise BookingMoved
        return changes, booking

    @classmethod
    async def lock_for_move(
        cls, conn: Connection, caller: Caller, booking_id: str, class_id: str
    ) -> tuple["ClassChanges", "ClassChanges", BookingRow]:
        """The same for a move: locks the booking's class and the one that it moves to."""
        found = await bookings.read(conn, caller, booking_id)
        if found is None:
            raise NotFound
        locked = await locks.lock_classes(conn, caller, (found.class_id, class_id))
        booking = await bookings.read(conn, caller, booking_id)
        if booking is None:
            raise NotFound
        if booking.class_id != found.class_id:
            raise BookingMoved
        if class_id not in locked or not caller.may_see(locked[class_id].class_.location_id):
            raise NotFound(param="class_id")
        old, new = (cls(caller, locked[id_].class_, locked[id_].now) for id_ in (found.class_id, class_id))
        return old, new, booking

    def add_event(self, kind: Kind, booking: BookingRow, previous: Previous = UNSET) -> None:
        """Adds an event with the booking's state at `save`."""
        self._booking_events.append((kind, booking, previous))

    async def load_waitlist(self, conn: Connection) -> None:
        if self.class_.waitlist_count == 0:
            return
        self.waiting = await waitlist.read_waiting(conn, self.caller, self.class_.id)
        for booking in await bookings.read_waiting(conn, self.caller, self.class_.id):
            self.bookings.setdefault(booking.id, booking)

    def after_charges(self, members: Mapping[str, MemberFacts]) -> dict[str, MemberFacts]:
        """The members as they will be after `save`."""
        return {
            id_: msgspec.structs.replace(member, credits=member.credits + self._credits[id_])
            for id_, member in members.items()
        }

    async def lock_members(self, conn: Connection, member_ids: Iterable[str]) -> dict[str, MemberFacts]:
        """Once per transaction: a second call could lock a lower id than the first, and deadlock."""
        assert not self._locked_members
        self._locked_members = frozenset(member_ids)
        return await locks.lock_members(conn, self.caller, self._locked_members)

    def set_status(self, booking: BookingRow, status: BookingStatus) -> None:
        """Also takes or frees the seat."""
        self._seats(seat_change(booking.status, status))
        booking.status = status
        self._touch(booking)

    def _seats(self, change: int) -> None:
        self.class_ = msgspec.structs.replace(self.class_, booked_count=self.class_.booked_count + change)

    def _touch(self, booking: BookingRow) -> None:
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

    def move_out(self, booking: BookingRow, seat: NewSeat, target: "ClassChanges") -> RescheduleRow:
        """Into the other class, with the same id. `target` is saved together with this one."""
        moved = RescheduleRow(
            id=new_id(),
            booking_id=booking.id,
            from_class_id=self.class_.id,
            created_at=self.now,
            credits_charged=seat.credits_charged,
            **msgspec.structs.asdict(seat.terms),
        )
        self._moves.append(moved)
        left = {
            "class_id": booking.class_id,
            "class_spot_id": booking.class_spot_id,
            "start_time": self.class_.start_time,
            "location_id": booking.location_id,
        }
        self._move_events.append((booking, left))
        self._left_spots.add(booking.class_spot_id)
        self._seats(-1)
        target._seats(1)
        if change := seat.terms.credits_restored - seat.credits_charged:
            self._credits[booking.member_id] += change
        booking.class_id, booking.location_id = target.class_.id, target.class_.location_id
        booking.class_spot_id = seat.spot_id
        booking.credits_charged, booking.promoted_at = seat.credits_charged, None
        self._touch(booking)
        return moved

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
        freed |= self._left_spots
        return [SpotFacts(id=spot.id, taken=spot.taken and spot.id not in freed) for spot in spots]

    async def save(
        self, conn: Connection, *, send_events: bool = True, class_event_follows: bool = False
    ) -> None:
        """`class_event_follows`: that event gets the class's new version, and ours the one before."""
        version = self.class_.version + (not class_event_follows)
        await self._write(conn)
        if send_events:
            await add_events(conn, [*self._events(), *await self._availability_events(conn, version)])

    async def save_move(self, conn: Connection, target: "ClassChanges") -> None:
        """Both classes of a move: its event, what the waitlists did, and which of them is full or no more."""
        await self._write(conn, target)
        events = [*self._events(), *target._events()]
        for changes in (self, target):
            events += await changes._availability_events(conn, changes.class_.version)
        await add_events(conn, events)

    async def _write(self, conn: Connection, *more: "ClassChanges") -> None:
        both = (self, *more)
        credits: Counter[str] = Counter()
        for changes in both:
            changes._renumber_waitlist()
            credits.update(changes._credits)
            changes.class_ = msgspec.structs.replace(changes.class_, version=changes.class_.version + 1)
        assert set(credits) <= self._locked_members
        await save_class_changes.save(
            conn,
            self.caller,
            [changes.class_ for changes in both],
            now=self.now,
            bookings=[booking for changes in both for booking in changes._changed.values()],
            entries=[entry for changes in both for entry in changes._entries.values()],
            credits=credits,
            receipts=[receipt for changes in both for receipt in changes._receipts],
            moves=self._moves,
        )

    def _renumber_waitlist(self) -> None:
        for position, entry in enumerate(self.waiting, 1):
            if entry.position != position:
                entry.position = position
                entry.version += 1
                self._entries[entry.id] = entry

    def _events(self) -> Iterable[Event]:
        for booking, left in self._move_events:
            event = booking_event(BookingRescheduled, self.caller, booking, self.now, previous=left)
            yield from for_both_locations(event, left["location_id"])
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
    candidates = changes.waiting if changes.class_.seats_left > 0 else []
    wanted = {entry.member_id for entry in candidates} | ({credited} if credited else set())
    if wanted:
        await promote_locked(conn, changes, policy, await changes.lock_members(conn, wanted))


async def promote_locked(
    conn: Connection, changes: ClassChanges, policy: Policy, members: Mapping[str, MemberFacts]
) -> None:
    """`members` are locked: all who wait, if there is a free seat."""
    class_ = changes.class_
    candidates = changes.waiting if class_.seats_left > 0 else []
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
        terms = terms_by_studio(booking.to_cancel(class_.start_time), policy, changes.now)
        changes.cancel(booking, terms, None, WaitlistStatus.SKIPPED)
    for promoted in decision.promoted:
        entry = by_id[promoted.entry_id]
        changes.confirm(entry, credits_charged=promoted.credits_charged, spot_id=promoted.spot_id)
