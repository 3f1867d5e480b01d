"""The demo studio, as lines of an import file: `demo_lines(today)`.

Ids are derived from names, and those of classes from date and slot. So importing the demo again changes
nothing, and importing it a week later extends the timetable.
"""

from collections.abc import Iterator
from datetime import date

from services.cli.demo.studio import LINES, STUDIO_ID, Line
from services.cli.demo.timetable import FIXED_CLASSES, attendance_lines, class_lines, sessions

__all__ = ["STUDIO_ID", "demo_lines"]


def demo_lines(today: date) -> Iterator[Line]:
    """Each line refers only to earlier lines. The timetable covers two weeks from `today`."""
    coming = [*FIXED_CLASSES, *sessions(today)]
    yield from LINES
    yield from class_lines(coming)
    yield from attendance_lines(coming)
