"""A class under its lock: what changes in it is gathered here, then saved and told in one go."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import msgspec

from services.bookings.actions.telling import booking_event, entry_event, receipt_of
from services.bookings.rules.cancellation import Terms
from services.bookings.rules.facts import ClassFacts, MemberFacts, SpotFacts
from services.bookings.rules.transitions import SEATED, seat_change
from services.bookings.store import bookings, locks, roster_write, waitlist
from services.bookings.store.roster_write import CreditChange, ReceiptRow
from services.bookings.store.rows import BookingRow, EntryRow
from services.bookings.wire.bookings import BookingStatus, CancellationReceipt
from services.bookings.wire.waitlist import WaitlistStatus
from shared.db.database import Connection
from shared.events.kinds import BookingCancelled, BookingConfirmed, Event
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.wire import new_id


class Roster:
    def __init__(self, caller: Caller, class_: ClassFacts, now: datetime) -> None:
        self.caller = caller
        self.class_ = class_
        self.now = now
        self.waiting: list[EntryRow] = []
        self.bookings: dict[str, BookingRow] = {}
        self._entries: dict[str, EntryRow] = {}
        self._changed: dict[str, BookingRow] = {}
        self._credits: Counter[str] = Counter()
        self._receipts: list[ReceiptRow] = []
        self._told: list[tuple[type[Event], BookingRow]] = []
        self._locked: frozenset[str] = frozenset()

    @classmethod
    async def open(cls, conn: Connection, caller: Caller, class_id: str) -> "Roster | None":
        locked = await locks.lock_class(conn, caller, class_id)
        return cls(caller, locked.class_, locked.now) if locked else None

    async def load_waiting(self, conn: Connection) -> None:
        if self.class_.waitlist_count == 0:
            return
        self.waiting = await waitlist.read_waiting(conn, self.caller, self.class_.id)
        for booking in await bookings.read_waiting(conn, self.caller, self.class_.id):
            self.bookings.setdefault(booking.id, booking)

    async def lock_members(self, conn: Connection, member_ids: Iterable[str]) -> dict[str, MemberFacts]:
        """Once per transaction: a second round could ask for a lower id than the first."""
        assert not self._locked
        self._locked = frozenset(member_ids)
        return await locks.lock_members(conn, self.caller, self._locked)

    def move(self, booking: BookingRow, status: BookingStatus) -> None:
        """The booking's next state, with the seat that it takes or leaves."""
        self.class_ = msgspec.structs.replace(
            self.class_, booked_count=self.class_.booked_count + seat_change(booking.status, status)
        )
        booking.status = status
        booking.version += 1
        booking.updated_at = self.now
        self._changed[booking.id] = booking

    def cancel(
        self, booking: BookingRow, terms: Terms, reason: str | None, leaving: WaitlistStatus | None = None
    ) -> CancellationReceipt:
        if booking.status is BookingStatus.WAITLISTED:
            self.leave(self.entry_of(booking), leaving or WaitlistStatus.CANCELLED)
        self.move(booking, BookingStatus.CANCELLED)
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
        self._told.append((BookingCancelled, booking))
        return receipt_of(receipt, booking)

    def confirm(self, entry: EntryRow, *, credits_charged: int, spot_id: str | None) -> None:
        booking = self.bookings[entry.booking_id]
        self.leave(entry, WaitlistStatus.CONVERTED)
        self.move(booking, BookingStatus.CONFIRMED)
        booking.class_spot_id = spot_id
        booking.credits_charged = credits_charged
        booking.promoted_at = self.now
        if credits_charged:
            self._credits[booking.member_id] -= credits_charged
        self._told.append((BookingConfirmed, booking))

    def leave(self, entry: EntryRow, status: WaitlistStatus) -> None:
        """Final, with the position it had; those behind move up when the roster is saved."""
        self.waiting.remove(entry)
        entry.status = status
        entry.version += 1
        self._entries[entry.id] = entry
        self.class_ = msgspec.structs.replace(self.class_, waitlist_count=len(self.waiting))

    def entry_of(self, booking: BookingRow) -> EntryRow:
        return next(entry for entry in self.waiting if entry.booking_id == booking.id)

    def freed(self, spots: list[SpotFacts]) -> list[SpotFacts]:
        """The spots as they will be once this is saved."""
        left = {booking.class_spot_id for booking in self._changed.values() if booking.status not in SEATED}
        return [SpotFacts(id=spot.id, taken=spot.taken and spot.id not in left) for spot in spots]

    async def save(self, conn: Connection, *, told: bool = True) -> None:
        """`told` is false for an import, which sends no events."""
        self._close_ranks()
        assert set(self._credits) <= self._locked
        self.class_ = msgspec.structs.replace(self.class_, version=self.class_.version + 1)
        await roster_write.save(
            conn,
            self.caller,
            self.class_,
            now=self.now,
            bookings=list(self._changed.values()),
            entries=list(self._entries.values()),
            credits=[CreditChange(member_id, change) for member_id, change in self._credits.items()],
            receipts=self._receipts,
        )
        if told:
            await add_events(conn, self._events())

    def _close_ranks(self) -> None:
        for position, entry in enumerate(self.waiting, 1):
            if entry.position != position:
                entry.position = position
                entry.version += 1
                self._entries[entry.id] = entry

    def _events(self) -> Iterable[Event]:
        for kind, booking in self._told:
            yield booking_event(kind, self.caller, booking, self.now)
        for entry in self._entries.values():
            yield entry_event(self.caller, entry, self.now)
