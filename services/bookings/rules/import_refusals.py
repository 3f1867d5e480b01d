"""Which import lines are refused: for what is stored, or for an accepted line before them."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from services.bookings.rules.transitions import LIVE, SEATED
from services.bookings.wire import import_lines as wire
from services.bookings.wire.bookings import BookingStatus, WaitlistStatus
from shared.transfer.lines import already_taken, unknown_reference

Key = tuple[str, str]
"""Studio and id."""
Pair = tuple[str, str, str]
"""Studio, class, and member or spot."""
ELSEWHERE = "It belongs to another class or member, where it stays."
HAS_BOOKING = "The member already has a booking in this class."


class KnownBooking(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    status: str
    class_spot_id: str | None
    has_receipt: bool = False


class KnownEntry(Struct, kw_only=True):
    id: str
    class_id: str
    member_id: str
    booking_id: str | None
    status: str

    @property
    def is_named(self) -> bool:
        """Not if its booking's line made it: then a waitlist line may still name it."""
        return self.id != self.booking_id


class Known(Struct):
    """What the lines refer to or may collide with: the stored rows, and the accepted lines."""

    classes: set[Key] = field(default_factory=set)
    spots: dict[Key, str | None] = field(default_factory=dict)  # → class, or None if not known
    members: dict[Key, str | None] = field(default_factory=dict)  # → email
    emails: dict[tuple[str, str | None], str] = field(default_factory=dict)  # studio and email → member
    owners: dict[tuple[str, str, str], str] = field(default_factory=dict)  # table, studio and id → member
    bookings: dict[Key, KnownBooking] = field(default_factory=dict)
    live: dict[Pair, KnownBooking] = field(default_factory=dict)
    seats: dict[Pair, KnownBooking] = field(default_factory=dict)
    entries: dict[Key, KnownEntry] = field(default_factory=dict)
    waiting: dict[Pair, KnownEntry] = field(default_factory=dict)
    receipts: dict[Key, str] = field(default_factory=dict)  # → booking
    earlier_bookings: set[Key] = field(default_factory=set)

    def add_earlier(self, kind: str, studio_id: str, id_: str) -> None:
        """A line of an earlier request of a dry run: only its id is known."""
        match kind:
            case "class":
                self.classes.add((studio_id, id_))
            case "member":
                self.members.setdefault((studio_id, id_), None)
            case "class_spot":
                self.spots.setdefault((studio_id, id_), None)
            case "booking":
                self.earlier_bookings.add((studio_id, id_))

    def add_member(self, studio_id: str, member_id: str, email: str | None) -> None:
        self.emails.pop((studio_id, self.members.get((studio_id, member_id))), None)
        self.members[studio_id, member_id] = email
        if email is not None:
            self.emails[studio_id, email] = member_id

    def add_booking(self, studio_id: str, booking: KnownBooking) -> None:
        if old := self.bookings.get((studio_id, booking.id)):
            for places, place in ((self.live, old.member_id), (self.seats, old.class_spot_id or "")):
                if places.get((studio_id, old.class_id, place)) is old:
                    del places[studio_id, old.class_id, place]
        self.bookings[studio_id, booking.id] = booking
        if booking.status in LIVE:
            self.live[studio_id, booking.class_id, booking.member_id] = booking
        if booking.status in SEATED and booking.class_spot_id is not None:
            self.seats[studio_id, booking.class_id, booking.class_spot_id] = booking

    def add_entry(self, studio_id: str, entry: KnownEntry) -> None:
        pair = studio_id, entry.class_id, entry.member_id
        old = self.waiting.get(pair)
        if old is not None and old.id == entry.id:
            del self.waiting[pair]
        self.entries[studio_id, entry.id] = entry
        if entry.status == WaitlistStatus.WAITING:
            self.waiting[pair] = entry


def refusals(known: Known, lines: Iterable[tuple[str, wire.AnyImported]]) -> list[str | None]:
    """For each line with its studio, the reason or None. Referenced kinds come first."""
    lines = list(lines)
    # A batch may exchange the spots of two bookings.
    coming = {(studio, line.id): line for studio, line in lines if isinstance(line, wire.ImportedBooking)}
    return [_refusal(known, studio_id, line, coming) for studio_id, line in lines]


def _refusal(
    known: Known, studio_id: str, line: wire.AnyImported, coming: dict[Key, wire.ImportedBooking]
) -> str | None:
    match line:
        case wire.ImportedMember():
            if known.emails.get((studio_id, line.email), line.id) != line.id:
                return already_taken("email", line.email)
            known.add_member(studio_id, line.id, line.email)
        case wire.ImportedMembership() | wire.ImportedPurchase():
            if missing := _missing(known, studio_id, line):
                return missing
            owner = type(line).__name__, studio_id, line.id
            if known.owners.setdefault(owner, line.member_id) != line.member_id:
                return "It belongs to another member, with whom it stays."
        case wire.ImportedClass():
            known.classes.add((studio_id, line.id))
        case wire.ImportedSpot():
            if missing := _missing(known, studio_id, line):
                return missing
            known.spots[studio_id, line.id] = line.class_id
        case wire.ImportedBooking():
            return _booking_refusal(known, studio_id, line, coming)
        case wire.ImportedEntry():
            return _entry_refusal(known, studio_id, line)
    return None


def _missing(known: Known, studio_id: str, line: Any) -> str | None:
    """For the first of class and member that the line names and the studio does not have."""
    for name, table, rows in (
        ("class_id", "classes", known.classes),
        ("member_id", "members", known.members),
    ):
        named = getattr(line, name, None)
        if named is not None and (studio_id, named) not in rows:
            return unknown_reference(name, named, table)
    return None


def _booking_refusal(
    known: Known, studio_id: str, line: wire.ImportedBooking, coming: dict[Key, wire.ImportedBooking]
) -> str | None:
    old = known.bookings.get((studio_id, line.id))
    if old is not None and (old.class_id, old.member_id) != (line.class_id, line.member_id):
        return ELSEWHERE
    # An import cannot take a seat away, and a cancellation made here is final: its receipt has been issued.
    if old is not None and old.status in SEATED and line.status is BookingStatus.WAITLISTED:
        return "The booking has left the waitlist; it cannot wait again."
    if old is not None and old.has_receipt and line.status != old.status == BookingStatus.CANCELLED:
        return "The booking was cancelled here, which is final."
    if missing := _missing(known, studio_id, line):
        return missing
    spot_of = known.spots.get((studio_id, line.class_spot_id), "") if line.class_spot_id else None
    if spot_of not in (line.class_id, None):
        return f"class_spot_id names {line.class_spot_id}, which is not among the class's spots."
    live = known.live.get((studio_id, line.class_id, line.member_id))
    if line.status in LIVE and live is not None and live.id != line.id:
        return HAS_BOOKING
    if line.status in SEATED and line.class_spot_id is not None:
        holder = known.seats.get((studio_id, line.class_id, line.class_spot_id))
        if holder and holder.id != line.id and _keeps_spot(holder, coming.get((studio_id, holder.id))):
            return f"class_spot_id {line.class_spot_id} is already taken by another booking."
    receipt = line.cancellation or None
    has_receipt = old is not None and old.has_receipt
    if receipt and not has_receipt and known.receipts.setdefault((studio_id, receipt.id), line.id) != line.id:
        return f"The id {receipt.id} of its cancellation is already taken by another one."
    new = KnownBooking(
        id=line.id,
        class_id=line.class_id,
        member_id=line.member_id,
        status=line.status,
        class_spot_id=line.class_spot_id,
        has_receipt=has_receipt or bool(receipt),
    )
    _leave_waitlist(known, studio_id, new)
    known.add_booking(studio_id, new)
    return None


def _keeps_spot(holder: KnownBooking, line: wire.ImportedBooking | None) -> bool:
    return line is None or (line.status in SEATED and line.class_spot_id == holder.class_spot_id)


def _leave_waitlist(known: Known, studio_id: str, booking: KnownBooking) -> None:
    """An entry leaves the waitlist with its booking."""
    entry = known.waiting.get((studio_id, booking.class_id, booking.member_id))
    if entry is not None and entry.booking_id == booking.id and booking.status != BookingStatus.WAITLISTED:
        known.add_entry(studio_id, replace(entry, status=WaitlistStatus.CONVERTED))


def _entry_refusal(known: Known, studio_id: str, line: wire.ImportedEntry) -> str | None:
    old = known.entries.get((studio_id, line.id))
    if old is not None and (old.class_id, old.member_id) != (line.class_id, line.member_id):
        return ELSEWHERE
    if old is not None and old.status != WaitlistStatus.WAITING and line.status is WaitlistStatus.WAITING:
        return "The entry has left the waitlist, which is final."
    if missing := _missing(known, studio_id, line):
        return missing
    named = line.booking_id or None
    booking = known.bookings.get((studio_id, named)) if named else None
    if (
        named
        and (studio_id, named) not in known.earlier_bookings
        and (booking is None or (booking.class_id, booking.member_id) != (line.class_id, line.member_id))
    ):
        return "booking_id names no booking of this class and member."
    if line.status is WaitlistStatus.WAITING:
        pair = studio_id, line.class_id, line.member_id
        waiting, live = known.waiting.get(pair), known.live.get(pair)
        if waiting is not None and waiting.id != line.id and waiting.is_named:
            return "The member is already on the waitlist of this class."
        if live is not None and live.status in SEATED:
            return HAS_BOOKING
    entry = KnownEntry(
        id=line.id,
        class_id=line.class_id,
        member_id=line.member_id,
        booking_id=named or (old.booking_id if old else None),
        status=line.status,
    )
    known.add_entry(studio_id, entry)
    return None
