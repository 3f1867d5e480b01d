"""The demo studio, as lines of an import file: `demo_lines(today)`.

Ids are derived from names, and those of classes from date and slot. So importing the demo again changes
nothing, and importing it a week later extends the timetable.
"""

from collections.abc import Iterator
from datetime import date

from services.cli.demo.people import (
    form_lines,
    lead_lines,
    member_lines,
    membership_lines,
    purchase_lines,
    submission_lines,
)
from services.cli.demo.studio import STUDIO_ID, Line, product_lines, studio_lines
from services.cli.demo.timetable import FIXED_CLASSES, attendance_lines, class_lines, sessions

__all__ = ["STUDIO_ID", "demo_lines"]


def demo_lines(today: date) -> Iterator[Line]:
    """Each line refers only to earlier lines. The timetable covers two weeks from `today`."""
    coming = [*FIXED_CLASSES, *sessions(today)]
    yield from studio_lines()
    yield from product_lines()
    yield from member_lines()
    yield from membership_lines()
    yield from purchase_lines()
    yield from class_lines(coming)
    yield from attendance_lines(coming)
    yield from form_lines()
    yield from lead_lines()
    yield from submission_lines()
