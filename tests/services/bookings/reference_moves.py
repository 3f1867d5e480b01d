"""What a move must do, in the reference model."""

import pickle
from dataclasses import replace

from tests.services.bookings.reference_model import Studio
from tests.services.bookings.reference_resources import Outcome


def move(studio: Studio, n: int, c: int) -> Outcome:
    """The fee and what is forfeited. A refusal leaves everything as it was."""
    before = pickle.dumps((studio.people, studio.bookings, studio.entries, studio.events))
    outcome = _move(studio, n, c)
    if outcome[0] not in ("assessed", "none"):
        studio.people, studio.bookings, studio.entries, studio.events = pickle.loads(before)
    return outcome


def _move(studio: Studio, n: int, c: int) -> Outcome:
    booking = studio.bookings[n]
    left, person = booking.course, studio.people[booking.person]
    old, new = studio.courses[left], studio.courses[c]
    if booking.status != "confirmed" or old.started:
        return "booking_not_movable", None
    if c == left:
        return "same_class", None
    studio.end_run_out(left)
    studio.end_run_out(c)
    studio.promote_waitlist(c)
    if refused := studio.not_bookable(c) or studio.already(c, booking.person):
        return refused
    late = old.late and not booking.promoted_late
    lost = booking.charged if late and studio.forfeit else 0
    back = booking.charged - lost
    if studio.why_not_eligible(new, replace(person, credits=person.credits + back)):
        return "member_not_eligible", None
    if studio.taken(c) + len(studio.queue(c)) >= new.capacity:
        return "class_full", None
    person.credits += back
    booking.spot, booking.course = studio.free_spot(c), c
    booking.charged, booking.promoted_late = 0, False
    studio.charge(booking)
    studio.events.append(("booking.rescheduled", n))
    studio.promote_waitlist(left)
    studio.renumber_waitlist(left)
    studio.renumber_waitlist(c)
    return "assessed" if late and studio.fee else "none", lost
