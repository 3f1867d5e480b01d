"""The rows of the reference model: what a studio holds, without rules."""

from dataclasses import dataclass


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
