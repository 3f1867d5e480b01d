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


def class_ids(today: date) -> set[str]:
    return {str(line["id"]) for line in demo_lines(today) if line["object"] == "class"}


async def everything(partner: Client, path: str, **query: Any) -> dict[str, dict[str, Any]]:
    """All rows of a list, page after page, by id."""
    found: dict[str, dict[str, Any]] = {}
    cursor: dict[str, str] = {}
    while True:
        response = await partner.get(path, **query, **cursor, limit=50)
        assert response.status == 200, response.body
        page = response.json()
        found |= {row["id"]: row for row in page["data"]}
        if not page["has_more"]:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def test_the_demo_imports_again_and_a_week_later(system: System) -> None:
    """No line is refused, the second time changes nothing, and a week later the timetable continues."""
    partner = await imported(system)
    first = await everything(partner, "/classes")
    await imported(system)
    assert await everything(partner, "/classes") == first
    await imported(system, TODAY + timedelta(days=7))
    later = await everything(partner, "/classes")
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
    classes = await everything(system.partner(await system.key(studio=lines[0]["id"])), "/classes")
    for line in lines:
        if line["object"] == "class":
            shown = classes[line["id"]]
            assert {name: shown[name] for name in ("booked_count", "available_count", "start_time")} == {
                name: line[name] for name in ("booked_count", "available_count", "start_time")
            }
