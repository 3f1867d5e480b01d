"""The demo studio in the running system: it imports whole, again and a week later."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from services.cli.demo import STUDIO_ID, demo_lines
from services.cli.demo.timetable import FIXED_CLASSES
from tests.harness.bookable_studio import demo_with_new_ids
from tests.harness.http import Client
from tests.harness.system import System

TODAY = datetime.now(UTC).date()


async def imported(system: System, today: date = TODAY) -> Client:
    await system.import_lines(list(demo_lines(today)))
    return system.partner(await system.key(studio=STUDIO_ID))


async def classes_by_id(partner: Client) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in await partner.everything("/classes")}


def class_ids(today: date) -> set[str]:
    return {str(line["id"]) for line in demo_lines(today) if line["object"] == "class"}


async def test_the_demo_imports_again_and_a_week_later(system: System) -> None:
    """No line is refused, the second time changes nothing, and a week later the timetable continues."""
    partner = await imported(system)
    first = await classes_by_id(partner)
    await imported(system)
    assert await classes_by_id(partner) == first
    await imported(system, TODAY + timedelta(days=7))
    later = await classes_by_id(partner)
    assert {id: later[id] for id in first} == first
    coming = class_ids(TODAY + timedelta(days=7))
    # Another test may have imported the demo of another day.
    assert class_ids(TODAY) <= first.keys()
    assert later.keys() == first.keys() | coming
    assert len(coming - class_ids(TODAY)) * 2 == len(coming) - len(FIXED_CLASSES)


async def test_the_system_counts_what_the_demo_says(system: System) -> None:
    """Booked and available seats come from the bookings, and they are what the file says."""
    lines = demo_with_new_ids(TODAY)
    await system.import_lines(lines)
    classes = await classes_by_id(system.partner(await system.key(studio=lines[0]["id"])))
    for line in lines:
        if line["object"] == "class":
            shown = classes[line["id"]]
            assert {name: shown[name] for name in ("booked_count", "available_count", "start_time")} == {
                name: line[name] for name in ("booked_count", "available_count", "start_time")
            }
