"""A reference model of a studio: what the service must do, written independently of how it does it."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.services.bookings.reference_resources import LIVE, Booking, Course, Entry, Outcome, Person


@dataclass
class Studio:
    people: list[Person]
    courses: list[Course]
    fee: str | None = None
    forfeit: bool = False
    bookings: list[Booking] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    events: list[tuple[str, int]] = field(default_factory=list)
    known_full: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.note_availability()

    def note_availability(self) -> None:
        """What partners know now; an import without events changes it silently."""
        self.known_full = [
            len(self.seated(c)) + len(self.held(c)) >= course.capacity
            for c, course in enumerate(self.courses)
        ]

    def tell_availability(self) -> None:
        """At the end of every operation. The event of a cancelled class contains its counts."""
        before = self.known_full
        self.note_availability()
        for c, (was_full, is_full) in enumerate(zip(before, self.known_full, strict=True)):
            if was_full != is_full and self.courses[c].status != "cancelled":
                self.events.append(("class.full" if is_full else "class.reopened", c))

    def seated(self, course: int) -> list[int]:
        return [
            n
            for n, b in enumerate(self.bookings)
            if b.course == course and b.status in ("confirmed", "checked_in")
        ]

    def held(self, course: int) -> list[int]:
        """Also those that have run out and that nobody has ended yet."""
        return [n for n, b in enumerate(self.bookings) if b.course == course and b.status == "held"]

    def live_holds(self, course: int) -> list[int]:
        return [n for n in self.held(course) if not self.bookings[n].run_out]

    def has_run_out(self, course: int) -> bool:
        return self.held(course) != self.live_holds(course)

    def end_run_out(self, course: int) -> None:
        """What every operation that takes place in the class begins with."""
        for n in self.held(course):
            if self.bookings[n].run_out:
                self.expire_hold(n)

    def expire_hold(self, n: int) -> None:
        self.bookings[n].status, self.bookings[n].run_out = "expired", False
        self.events.append(("booking.expired", n))

    def settle(self, c: int) -> None:
        """An operation of its own, before another one or by the loop: the seats go to the waitlist."""
        if self.has_run_out(c):
            self.end_run_out(c)
            self.promote_waitlist(c)
            self.renumber_waitlist(c)
            self.tell_availability()

    def taken(self, course: int) -> int:
        return len(self.seated(course)) + len(self.held(course))

    def queue(self, course: int) -> list[int]:
        waiting = [
            n
            for n, e in enumerate(self.entries)
            if e.status == "waiting" and self.bookings[e.booking].course == course
        ]
        return sorted(waiting, key=lambda n: self.entries[n].position)

    def why_not_eligible(self, course: Course, person: Person) -> list[str]:
        reasons = ["member_suspended"] if person.suspended else []
        if course.cost and person.membership != "active" and person.credits < course.cost:
            named = {"paused": "membership_paused", "past_due": "membership_past_due"}
            reasons.append(named.get(person.membership or "", "no_membership_or_credits"))
        return reasons

    def charge(self, booking: Booking) -> None:
        course, person = self.courses[booking.course], self.people[booking.person]
        if person.membership != "active":
            booking.charged = course.cost
            person.credits -= course.cost

    def free_spot(self, course: int) -> int | None:
        taken = {self.bookings[n].spot for n in (*self.seated(course), *self.held(course))}
        return next((spot for spot in range(self.courses[course].spots) if spot not in taken), None)

    def book(self, c: int, p: int, *, join: bool, hold: bool = False) -> Outcome:
        self.settle(c)
        course, person = self.courses[c], self.people[p]
        if refused := self.not_bookable(c) or self.already(c, p):
            return refused
        if "member_suspended" in (why := self.why_not_eligible(course, person)) or (why and not hold):
            return "member_not_eligible", None
        waiting = len(self.queue(c))
        if self.taken(c) + waiting < course.capacity:
            if hold:
                return self._hold(c, p)
            booking = Booking(c, p, "confirmed", spot=self.free_spot(c))
            self.charge(booking)
            self.bookings.append(booking)
            self.events.append(("booking.created", len(self.bookings) - 1))
            return "confirmed", None
        if not join:
            return "class_full", None
        if not course.allow_waitlist:
            return "waitlist_not_allowed", None
        if course.waitlist_capacity is not None and waiting >= course.waitlist_capacity:
            return "waitlist_full", None
        self.bookings.append(Booking(c, p, "waitlisted"))
        self.entries.append(Entry(len(self.bookings) - 1, waiting + 1))
        self.events.append(("booking.created", len(self.bookings) - 1))
        self.events.append(("waitlist.updated", len(self.entries) - 1))
        return "waitlisted", waiting + 1

    def not_bookable(self, c: int) -> Outcome | None:
        course = self.courses[c]
        if course.status != "scheduled" or course.started or not course.visible:
            return "class_not_bookable", course.status if course.status != "scheduled" else (
                "started" if course.started else "hidden"
            )
        return None

    def already(self, c: int, p: int) -> Outcome | None:
        live = self.live_of(c, p)
        if live is None:
            return None
        kinds = {"waitlisted": "already_waitlisted", "held": "already_held"}
        return kinds.get(self.bookings[live].status, "already_booked"), live

    def _hold(self, c: int, p: int) -> Outcome:
        """All holds of a run are made within a day, and its client may hold all seats of a class."""
        if len([b for b in self.bookings if (b.held_in, b.person) == (c, p)]) >= 2:
            return "too_many_holds", None
        self.bookings.append(Booking(c, p, "held", spot=self.free_spot(c), only_held=True, held_in=c))
        self.events.append(("booking.held", len(self.bookings) - 1))
        return "held", None

    def confirm(self, n: int) -> Outcome:
        """A refusal leaves everything as it was, also what the operation would have begun with."""
        before = pickle.dumps((self.people, self.bookings, self.entries, self.events))
        outcome = self._confirm(n)
        if outcome[0] != "confirmed":
            self.people, self.bookings, self.entries, self.events = pickle.loads(before)
        return outcome

    def _confirm(self, n: int) -> Outcome:
        booking = self.bookings[n]
        c, course, person = booking.course, self.courses[booking.course], self.people[booking.person]
        if not booking.only_held or booking.status == "cancelled":
            return "booking_not_held", None
        self.end_run_out(c)
        self.promote_waitlist(c)
        late = booking.status == "expired"
        if late and (refused := self.not_bookable(c) or self.already(c, booking.person)):
            return refused
        if self.why_not_eligible(course, person):
            return "member_not_eligible", None
        spot_taken = booking.spot is not None and self.spot_is_taken(c, booking.spot)
        if late and (self.taken(c) >= course.capacity or self.queue(c) or spot_taken):
            return "hold_expired", None
        booking.status, booking.only_held = "confirmed", False
        self.charge(booking)
        self.events.append(("booking.created", n))
        self.renumber_waitlist(c)
        return "confirmed", None

    def leave(self, entry: int, status: str) -> None:
        """Keeps the position; `renumber_waitlist` comes at the end of every operation."""
        self.entries[entry].status = status
        self.events.append(("waitlist.updated", entry))

    def renumber_waitlist(self, c: int) -> None:
        for position, n in enumerate(self.queue(c), 1):
            if self.entries[n].position != position:
                self.entries[n].position = position
                self.events.append(("waitlist.updated", n))

    def entry_of(self, booking: int) -> int:
        return next(n for n, e in enumerate(self.entries) if e.booking == booking and e.status == "waiting")

    def cancel(self, n: int) -> Outcome:
        booking = self.bookings[n]
        course = self.courses[booking.course]
        if booking.status == "cancelled":
            return "booking_already_cancelled", None
        if booking.shown not in ("held", "confirmed", "waitlisted") or course.started:
            return "booking_not_cancellable", booking.shown
        self.end_run_out(booking.course)
        late = course.late and booking.status == "confirmed" and not booking.promoted_late
        lost = booking.charged if late and self.forfeit else 0
        self.release(n, lost)
        self.promote_waitlist(booking.course)
        self.renumber_waitlist(booking.course)
        return ("assessed" if late and self.fee else "none"), lost

    def release(self, n: int, lost: int, leaving: str = "cancelled") -> None:
        booking = self.bookings[n]
        if booking.status == "waitlisted":
            self.leave(self.entry_of(n), leaving)
        booking.status = "cancelled"
        self.people[booking.person].credits += booking.charged - lost
        self.events.append(("booking.cancelled", n))

    def promote_waitlist(self, c: int) -> None:
        course = self.courses[c]
        if course.status != "scheduled" or course.started:
            return
        for entry in self.queue(c):
            if self.taken(c) >= course.capacity:
                return
            n = self.entries[entry].booking
            booking = self.bookings[n]
            if self.why_not_eligible(course, self.people[booking.person]):
                self.release(n, 0, "skipped")
                continue
            self.leave(entry, "converted")
            booking.spot = self.free_spot(c)
            booking.status, booking.promoted_late = "confirmed", course.late
            self.charge(booking)
            self.events.append(("booking.confirmed", n))

    def set_capacity(self, c: int, capacity: int) -> bool:
        if self.courses[c].status == "cancelled":
            return False
        if self.courses[c].capacity != capacity:
            self.events.append(("class.updated", c))
        self.courses[c].capacity = capacity
        self.end_run_out(c)
        self.promote_waitlist(c)
        self.renumber_waitlist(c)
        return True

    def cancel_course(self, c: int) -> bool:
        course = self.courses[c]
        if course.status != "scheduled":
            return False
        course.status = "cancelled"
        self.end_run_out(c)
        for n, booking in enumerate(self.bookings):
            if booking.course == c and booking.status in LIVE:
                self.release(n, 0)
        self.events.append(("class.cancelled", c))
        return True

    def start_course(self, c: int) -> None:
        self.courses[c].started = True
        self.events.append(("class.updated", c))
        for n in self.held(c):
            self.expire_hold(n)
        for entry in self.queue(c):
            self.entries[entry].status = "expired"
            self.bookings[self.entries[entry].booking].status = "expired"
            self.events.append(("booking.expired", self.entries[entry].booking))
            self.events.append(("waitlist.updated", entry))

    def record_attendance(self, n: int, status: str) -> bool:
        moves = {("confirmed", "checked_in"), ("confirmed", "no_show"), ("checked_in", "confirmed")}
        booking = self.bookings[n]
        if (booking.status, status) not in moves | {("no_show", "checked_in")}:
            return False
        course = self.courses[booking.course]
        if course.status == "cancelled" or (status == "no_show" and not course.started):
            return False
        if booking.status != "no_show" or self.live_of(booking.course, booking.person) is None:
            self.end_run_out(booking.course)
        if booking.status == "no_show":
            if self.live_of(booking.course, booking.person) is not None:
                return False
            if booking.spot is not None and self.spot_is_taken(booking.course, booking.spot):
                booking.spot = self.free_spot(booking.course)
        booking.status = status
        self.events.append(("booking.updated" if status == "confirmed" else f"booking.{status}", n))
        self.promote_waitlist(booking.course)
        self.renumber_waitlist(booking.course)
        return True

    def live_of(self, c: int, p: int) -> int | None:
        mine = [
            n
            for n, b in enumerate(self.bookings)
            if (b.course, b.person) == (c, p) and b.status in LIVE and not b.run_out
        ]
        return mine[0] if mine else None

    def spot_is_taken(self, c: int, spot: int) -> bool:
        return any(self.bookings[n].spot == spot for n in (*self.seated(c), *self.held(c)))

    def import_seat(self, c: int, p: int) -> bool:
        self.settle(c)
        if self.live_of(c, p) is not None:
            return False
        with self._importing(c):
            self.bookings.append(Booking(c, p, "confirmed"))
        return True

    def import_waiter(self, c: int, p: int, position: int) -> bool:
        self.settle(c)
        if self.live_of(c, p) is not None:
            return False
        with self._importing(c):
            self.bookings.append(Booking(c, p, "waitlisted"))
            self.entries.append(Entry(len(self.bookings) - 1, position, imported_as=position))
        return True

    def import_cancellation(self, n: int) -> None:
        """Without a fee; all credits are returned. The spot is the line's: as the booking was read."""
        spot = self.bookings[n].spot
        with self._importing(self.bookings[n].course):
            self.release(n, 0)
            self.bookings[n].spot = spot

    def import_class(self, c: int, capacity: int, *, cancelled: bool) -> None:
        course = self.courses[c]
        if capacity == course.capacity and not (cancelled and course.status != "cancelled"):
            return
        with self._importing(c):
            course.capacity = capacity
            if cancelled:
                course.status = "cancelled"

    @contextmanager
    def _importing(self, c: int) -> Iterator[None]:
        """As `studioctl import --no-events`.

        Imported positions come first; then promotion, or release of all bookings of a cancelled class.
        """
        self.settle(c)
        before = len(self.events)
        yield
        entries = self.entries
        order = sorted(
            self.queue(c),
            key=lambda n: (
                entries[n].imported_as is None,
                entries[n].imported_as or 0,
                entries[n].position,
                n,
            ),
        )
        for position, n in enumerate(order, 1):
            entries[n].position = position
        if self.courses[c].status == "cancelled":
            for n, booking in enumerate(self.bookings):
                if booking.course == c and booking.status in LIVE:
                    self.release(n, 0)
        else:
            self.promote_waitlist(c)
            self.renumber_waitlist(c)
        del self.events[before:]
        self.note_availability()
