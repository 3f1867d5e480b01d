"""Changes to one class under its lock: collected here, then saved with their events in one go."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from services.bookings.actions.event_builders import Previous, booking_event, class_event, waitlist_event
from services.bookings.rules.booking_facts import (
    BookingFacts,
    ClassFacts,
    LiveBooking,
    MemberFacts,
    SpotFacts,
)
from services.bookings.rules.cancellation import Policy, Terms, terms_by_studio
from services.bookings.rules.rescheduling import NewSeat
from services.bookings.rules.transitions import (
    LIVE,
    WITH_SEAT,
    Waiting,
    decide_promotion,
    hold_change,
    seat_change,
)
from services.bookings.store import bookings, classes, locks, save_class_changes, waitlist
from services.bookings.store.bookings import BookingRow
from services.bookings.store.locks import LockedClass
from services.bookings.store.save_class_changes import ReceiptRow, RescheduleRow, build_receipt
from services.bookings.store.waitlist import WaitlistRow
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt, WaitlistStatus
from services.bookings.wire.classes import ClassStatus, SpotMode
from shared.db.database import Connection
from shared.events.changes import for_both_locations
from shared.events.event import Event, Kind
from shared.events.kinds import (
    BookingCancelled,
    BookingConfirmed,
    BookingCreated,
    BookingExpired,
    BookingRescheduled,
    BookingUpdated,
    ClassFull,
    ClassReopened,
)
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.wire import new_id

WAS_HELD = {"status": BookingStatus.HELD}


class ClassChanges:
    """A unit of work on one class: seats, holds, waitlist, credits and receipts.

    `bookings` has those that were read or changed: use them instead of reading one again.
    """

    def __init__(self, caller: Caller, class_: ClassFacts, now: datetime) -> None:
        self.caller = caller
        self.class_ = msgspec.structs.replace(
            class_, held_count=class_.held_count + class_.holds_due, holds_due=0
        )
        self.was_full = self.class_.seats_left <= 0
        self.now = now
        self.waiting: list[WaitlistRow] = []
        self.bookings: dict[str, BookingRow] = {}
        self._entries: dict[str, WaitlistRow] = {}
        self._changed: dict[str, BookingRow] = {}
        self._credits: Counter[str] = Counter()
        self._receipts: list[ReceiptRow] = []
        self._booking_events: list[tuple[Kind, BookingRow, Previous]] = []
        self._expired_holds: list[Event] = []
        self._moves: list[RescheduleRow] = []
        self._left: list[tuple[BookingRow, dict[str, Any]]] = []
        # Spots that a move takes or leaves: whether they are taken afterwards.
        self._moved_spots: dict[str | None, bool] = {}
        self.members: dict[str, MemberFacts] = {}

    @classmethod
    async def lock(cls, conn: Connection, caller: Caller, class_id: str) -> "ClassChanges | None":
        """Locks the class, if there is one, and expires its holds that have run out: `save` stores that.

        Whoever saves offers the seats to the waitlist before."""
        locked = await locks.lock_class(conn, caller, class_id)
        return await cls.of_locked(conn, caller, locked) if locked else None

    @classmethod
    async def of_locked(cls, conn: Connection, caller: Caller, locked: LockedClass) -> "ClassChanges":
        changes = cls(caller, locked.class_, locked.now)
        if locked.class_.holds_due:
            await changes.load_holds(conn)
            for booking in changes.holds():
                if booking.has_run_out(changes.now):
                    changes.expire_hold(booking)
        return changes

    async def load_holds(self, conn: Connection) -> None:
        for booking in await bookings.read_held(conn, self.caller, self.class_.id):
            self.bookings.setdefault(booking.id, booking)

    def holds(self) -> list[BookingRow]:
        return [one for one in self.bookings.values() if one.status is BookingStatus.HELD]

    def expire_hold(self, booking: BookingRow) -> None:
        """It reads as expired since its end, so the end is when it was updated."""
        self.set_status(booking, BookingStatus.EXPIRED)
        booking.updated_at = booking.held_until or self.now
        event = booking_event(BookingExpired, self.caller, booking, self.now, previous=WAS_HELD)
        self._expired_holds.append(event)

    async def shorten_holds(self, conn: Connection) -> None:
        """After a change of the start: no hold outlasts it, and none ends before the change."""
        if self.class_.held_count == 0:
            return
        await self.load_holds(conn)
        start = max(self.class_.start_time, self.now)
        for booking in self.holds():
            before, booking.held_until = booking.held_until, min(booking.held_until or start, start)
            if booking.has_run_out(self.now):
                self.expire_hold(booking)
            elif booking.held_until != before:
                self.set_status(booking, BookingStatus.HELD)
                self.add_event(BookingUpdated, booking, {"held_until": before})

    @property
    def has_changes(self) -> bool:
        return bool(self._changed)

    def add_event(self, kind: Kind, booking: BookingRow, previous: Previous = UNSET) -> None:
        """Adds an event with the booking's state at `save`."""
        self._booking_events.append((kind, booking, previous))

    async def load_waitlist(self, conn: Connection) -> None:
        if self.class_.waitlist_count == 0:
            return
        self.waiting = await waitlist.read_waiting(conn, self.caller, self.class_.id)
        for booking in await bookings.read_waiting(conn, self.caller, self.class_.id):
            self.bookings.setdefault(booking.id, booking)

    async def lock_members(self, conn: Connection, member_ids: Iterable[str]) -> None:
        """Once per transaction: a second call could lock a lower id than the first, and deadlock.

        Who changes two classes locks the members of both at once, and sets `members` of both.
        """
        assert not self.members
        if wanted := frozenset(member_ids):
            self.members = await locks.lock_members(conn, self.caller, wanted)

    def candidates(self) -> set[str]:
        """The members who may be promoted, to be locked."""
        return {entry.member_id for entry in self.waiting} if self.class_.seats_left > 0 else set()

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
            self.class_,
            booked_count=self.class_.booked_count + seat_change(booking.status, status),
            held_count=self.class_.held_count + hold_change(booking.status, status),
        )
        booking.status = status
        self._touch(booking)

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
        previous = WAS_HELD if booking.status is BookingStatus.HELD else UNSET
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
        self.add_event(BookingCancelled, booking, previous)
        return build_receipt(receipt, booking)

    def move_out(self, booking: BookingRow, seat: NewSeat, target: "ClassChanges") -> RescheduleRow:
        """To the other class, with the same id. `save_move` saves both."""
        moved = RescheduleRow(
            id=new_id(),
            booking_id=booking.id,
            from_class_id=self.class_.id,
            created_at=self.now,
            credits_charged=seat.credits_charged,
            **msgspec.structs.asdict(seat.terms),
        )
        left = {
            "class_id": booking.class_id,
            "class_spot_id": booking.class_spot_id,
            "start_time": self.class_.start_time,
            "location_id": booking.location_id,
        }
        self._moves.append(moved)
        self._left.append((booking, left))
        self._moved_spots[booking.class_spot_id] = False
        target._moved_spots[seat.spot_id] = True
        for changes, seats in ((self, -1), (target, 1)):
            booked = changes.class_.booked_count + seats
            changes.class_ = msgspec.structs.replace(changes.class_, booked_count=booked)
        if change := seat.terms.credits_restored - seat.credits_charged:
            self._credits[booking.member_id] += change
        booking.class_id, booking.location_id = target.class_.id, target.class_.location_id
        booking.class_spot_id, booking.credits_charged = seat.spot_id, seat.credits_charged
        booking.promoted_at = None
        self._touch(booking)
        return moved

    def members_after(self) -> dict[str, MemberFacts]:
        """The locked members as they will be after `save`."""
        return {
            id_: msgspec.structs.replace(member, credits=member.credits + self._credits[id_])
            for id_, member in self.members.items()
        }

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

    def confirm_hold(self, booking: BookingRow, *, credits_charged: int) -> None:
        """Told as a new booking: whoever does not know holds has never seen it."""
        self.set_status(booking, BookingStatus.CONFIRMED)
        booking.only_held = False
        booking.credits_charged = credits_charged
        if credits_charged:
            self._credits[booking.member_id] -= credits_charged
        self.add_event(BookingCreated, booking)

    def leave_waitlist(self, entry: WaitlistRow, status: WaitlistStatus) -> None:
        """Final. The entry keeps its last position; those behind it move up on `save`."""
        self.waiting.remove(entry)
        entry.status = status
        entry.version += 1
        self._entries[entry.id] = entry
        self.class_ = msgspec.structs.replace(self.class_, waitlist_count=len(self.waiting))

    def entry_of(self, booking: BookingRow) -> WaitlistRow:
        return next(entry for entry in self.waiting if entry.booking_id == booking.id)

    async def read_spots(self, conn: Connection) -> list[SpotFacts]:
        """The spots as they will be after `save`."""
        changed = self._changed.values()
        freed = {booking.class_spot_id for booking in changed if booking.status not in WITH_SEAT}
        given = {booking.class_spot_id for booking in changed if booking.status in WITH_SEAT}
        freed |= {spot for spot, taken in self._moved_spots.items() if not taken}
        given |= {spot for spot, taken in self._moved_spots.items() if taken}
        return [
            SpotFacts(id=spot.id, taken=spot.id in given or (spot.taken and spot.id not in freed))
            for spot in await locks.read_spots(conn, self.caller, self.class_.id, self.now)
        ]

    async def booking_facts(self, conn: Connection, member_id: str, spot: str | None = None) -> BookingFacts:
        """What a seat of this locked member, or its own `spot`, depends on, after the changes up to now."""
        live = await bookings.live_of_member(conn, self.caller, self.class_.id, member_id, self.now)
        # The member may have been promoted, or skipped, just now.
        other = self.bookings.get(live.id) if live else None
        if other is not None:
            live = LiveBooking(id=other.id, status=other.status) if other.status in LIVE else None
        chooses = self.class_.spot_selection_mode not in (None, SpotMode.NONE)
        return BookingFacts(
            now=self.now,
            class_=self.class_,
            member=self.members_after()[member_id],
            live=live,
            spots=await self.read_spots(conn) if chooses or spot else [],
        )

    async def save(
        self, conn: Connection, *, send_events: bool = True, class_event_follows: bool = False
    ) -> None:
        """`class_event_follows`: that event gets the class's new version, and ours the one before.

        Without `send_events`, only the end of holds is told: what else changes is told by the caller.
        """
        version = self.class_.version + (not class_event_follows)
        await self._write(conn)
        events = list(self._expired_holds)
        if send_events:
            events += [*self._events(), *await self._availability_events(conn, version)]
        if events:
            await add_events(conn, events)

    async def save_move(self, conn: Connection, target: "ClassChanges") -> None:
        """The target first: a hold that has run out there may still have the spot, or be the member's own."""
        await target._write(conn)
        await self._write(conn)
        events = [*self._expired_holds, *target._expired_holds, *self._events(), *target._events()]
        for changes in (self, target):
            events += await changes._availability_events(conn, changes.class_.version)
        await add_events(conn, events)

    async def _write(self, conn: Connection) -> None:
        self._renumber_waitlist()
        assert set(self._credits) <= set(self.members)
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
            moves=self._moves,
        )

    def _renumber_waitlist(self) -> None:
        for position, entry in enumerate(self.waiting, 1):
            if entry.position != position:
                entry.position = position
                entry.version += 1
                self._entries[entry.id] = entry

    def _events(self) -> Iterable[Event]:
        for booking, left in self._left:
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
        # A hold may have run out since.
        shown.held_count, shown.available_count = self.class_.held_count, max(0, self.class_.seats_left)
        kind = ClassFull if is_full else ClassReopened
        return [class_event(kind, self.caller, shown, version, self.now)]


async def promote_waitlist(
    conn: Connection, changes: ClassChanges, policy: Policy, *, also_lock: Iterable[str] = ()
) -> None:
    """`also_lock` are members who pay or get credits back in this transaction."""
    await changes.lock_members(conn, changes.candidates() | set(also_lock))
    await promote_locked(conn, changes, policy)


async def promote_locked(conn: Connection, changes: ClassChanges, policy: Policy) -> None:
    """Once the candidates are locked."""
    class_ = changes.class_
    candidates = changes.waiting if class_.seats_left > 0 else []
    if not candidates:
        return
    chooses = class_.spot_selection_mode not in (None, SpotMode.NONE)
    decision = decide_promotion(
        class_,
        [Waiting(entry_id=entry.id, member=changes.members[entry.member_id]) for entry in candidates],
        await changes.read_spots(conn) if chooses else [],
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
