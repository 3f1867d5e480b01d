"""Bookings within each class's capacity, and waitlists of the full classes."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from services.cli.demo.ids import Line, demo_id, instant, line
from services.cli.demo.people import PACK_HOLDERS, SUBSCRIBERS, member_id
from services.cli.demo.timetable import DAYS, Session

# Earlier than the first day of any demo that contains the class, so no booking is made in the future.
BOOKED_BEFORE = timedelta(days=DAYS + 1)


def attendance_lines(coming: Iterable[Session]) -> Iterator[Line]:
    for session in coming:
        names = attending(session)
        for number, name in enumerate(names):
            waiting = number + 1 - session.slot.booked
            if waiting <= 0:
                yield _booking(session, name, number)
                continue
            yield _booking(session, name, number, position=waiting)
            yield line(
                "waitlist",
                f"{session.name}/{name}",
                class_id=session.id,
                member_id=member_id(name),
                position=waiting,
                status="waiting",
                converted_to_booking=False,
            )


def attending(session: Session) -> list[str]:
    """Different members each day. Only subscribers book classes that cost credits, so nobody owes any."""
    pool = SUBSCRIBERS if session.slot.credit_cost else (*SUBSCRIBERS, *PACK_HOLDERS)
    first = session.on.toordinal() * 3
    wanted = session.slot.booked + session.slot.waiting
    return [pool[(first + number) % len(pool)] for number in range(wanted)]


def _booking(session: Session, name: str, number: int, *, position: int | None = None) -> Line:
    first = session.booked_from or session.start - BOOKED_BEFORE
    booked_at = instant(first + timedelta(minutes=7 * number))
    spot = session.spot_labels[number] if session.spot_labels else None
    return line(
        "booking",
        f"{session.name}/{name}",
        class_id=session.id,
        member_id=member_id(name),
        status="waitlisted" if position else "confirmed",
        booking_source="partner_api" if number % 2 else "studio",
        class_spot_id=demo_id("class_spot", f"{session.name}/{spot}") if spot else None,
        waitlist_position=position,
        created_at=booked_at,
        updated_at=booked_at,
    )
