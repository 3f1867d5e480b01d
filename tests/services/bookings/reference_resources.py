"""The parts of the reference model's studio."""

from dataclasses import dataclass

Outcome = tuple[str, int | str | None]
LIVE = ("held", "confirmed", "checked_in", "waitlisted")


@dataclass
class Person:
    credits: int = 0
    membership: str | None = None
    suspended: bool = False


@dataclass
class Booking:
    course: int
    person: int
    status: str
    charged: int = 0
    promoted_late: bool = False
    spot: int | None = None
    # A hold, or one that was never confirmed. `run_out`: its time is over, but nobody has written it yet.
    # `held_in`: the course of the hold that it began as; it may have moved since.
    only_held: bool = False
    held_in: int | None = None
    run_out: bool = False

    @property
    def shown(self) -> str:
        return "expired" if self.run_out else self.status


@dataclass
class Entry:
    booking: int
    position: int
    status: str = "waiting"
    imported_as: int | None = None


@dataclass
class Course:
    capacity: int
    cost: int = 0
    allow_waitlist: bool = True
    waitlist_capacity: int | None = None
    late: bool = False
    visible: bool = True
    spots: int = 0
    status: str = "scheduled"
    started: bool = False
