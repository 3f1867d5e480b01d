"""What an import does to the reference model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.services.bookings.reference_model import Studio


@contextmanager
def without_events(studio: "Studio") -> Iterator[None]:
    """As `studioctl import --no-events`."""
    before = len(studio.events)
    yield
    del studio.events[before:]
    studio.note_availability()


def settle(studio: "Studio", c: int) -> None:
    """Imported positions come first; then promotion, or release of all bookings of a cancelled class."""
    order = sorted(
        studio.queue(c),
        key=lambda n: (
            studio.entries[n].imported_as is None,
            studio.entries[n].imported_as or 0,
            studio.entries[n].position,
            n,
        ),
    )
    for position, n in enumerate(order, 1):
        studio.entries[n].position = position
    if studio.courses[c].status == "cancelled":
        release_all(studio, c)
        return
    studio.promote_waitlist(c)
    studio.renumber_waitlist(c)


def release_all(studio: "Studio", c: int) -> None:
    for n, booking in enumerate(studio.bookings):
        if booking.course == c and booking.status in ("confirmed", "checked_in", "waitlisted"):
            studio.release(n, 0)
