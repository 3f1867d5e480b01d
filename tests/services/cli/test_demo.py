"""The demo studio: its file is stable and whole, and it imports, again and a week later."""

from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.cli.demo import STUDIO_ID, demo_lines
from services.cli.demo.timetable import FIXED_CLASSES
from tests.harness.bookable_studio import demo_with_new_ids
from tests.harness.http import Client
from tests.harness.system import System

MONDAY = date(2026, 8, 3)
BEFORE_SPRING = date(2027, 3, 8)  # the clocks go forward on the 14th
BEFORE_AUTUMN = date(2026, 10, 26)  # the clocks go back on November 1st
TODAY = datetime.now(UTC).date()


def of_kind(kind: str, today: date = MONDAY) -> list[dict[str, Any]]:
    return [line for line in demo_lines(today) if line["object"] == kind]


def test_the_file_holds_what_a_newcomer_wants_to_try() -> None:
    """Two locations, eight class types, two weeks of classes, people in every state."""
    counts = Counter(line["object"] for line in demo_lines(MONDAY))
    assert (counts["studio"], counts["location"], counts["class_type"]) == (1, 2, 8)
    assert 20 <= counts["member"] <= 30
    assert counts["class"] >= 30
    assert {member["role"] for member in of_kind("member")} == {"member", "user", "lead"}
    assert {m["status"] for m in of_kind("membership")} >= {"active", "paused", "past_due"}
    assert {form["status"] for form in of_kind("form")} == {"published", "draft"}
    assert [i["name"] for i in of_kind("instructor") if not i["active"]] == ["Tom Becker"]
    assert len({location["timezone"] for location in of_kind("location")}) == 2
    assert any(line["credit_cost"] for line in of_kind("class"))
    assert any(line["available_count"] == 1 for line in of_kind("class")), "one is nearly full"


@pytest.mark.parametrize("today", [BEFORE_SPRING, BEFORE_AUTUMN], ids=["spring", "autumn"])
def test_classes_fill_two_weeks_and_keep_their_hours_across_a_clock_change(today: date) -> None:
    """In each location's own time a weekly class begins at the same hour before and after the change."""
    zones = {line["id"]: ZoneInfo(line["timezone"]) for line in of_kind("location", today)}
    hours: dict[tuple[str, str, int], set[str]] = defaultdict(set)
    offsets: set[timedelta | None] = set()
    days: set[date] = set()
    fixed = {session.id for session in FIXED_CLASSES}
    for line in of_kind("class", today):
        if line["id"] in fixed:
            continue
        start, end = (datetime.fromisoformat(line[name]) for name in ("start_time", "end_time"))
        local = start.astimezone(zones[line["location_id"]])
        hours[line["location_id"], line["title"], local.weekday()].add(local.strftime("%H:%M"))
        offsets.add(local.utcoffset())
        days.add(local.date())
        assert timedelta(minutes=30) <= end - start <= timedelta(minutes=90)
    assert len(offsets) == 3, "the two weeks must hold a clock change in both zones"
    assert all(len(seen) == 1 for seen in hours.values())
    assert (min(days), max(days)) == (today, today + timedelta(days=13))


def test_addresses_are_under_example_com_and_unique() -> None:
    """No demo email can reach anybody; an email belongs to one member and one lead."""
    for kind in ("member", "lead"):
        emails = [line["email"] for line in of_kind(kind)]
        assert all(email.endswith("@example.com") for email in emails)
        assert len(set(emails)) == len(emails)


async def imported(system: System, today: date = TODAY) -> Client:
    await system.import_lines(list(demo_lines(today)))
    return system.partner(await system.key(studio=STUDIO_ID))


async def classes_by_id(partner: Client) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in await partner.everything("/classes")}


async def test_the_demo_imports_again_and_a_week_later(system: System) -> None:
    """No line is refused, the second time changes nothing, and a week later the timetable continues."""
    partner = await imported(system)
    first = await classes_by_id(partner)
    await imported(system)
    assert await classes_by_id(partner) == first
    await imported(system, TODAY + timedelta(days=7))
    later = await classes_by_id(partner)
    assert {id: later[id] for id in first} == first
    today, coming = ({line["id"] for line in of_kind("class", TODAY + timedelta(days=n))} for n in (0, 7))
    # Another test may have imported the demo of another day.
    assert today <= first.keys()
    assert later.keys() == first.keys() | coming
    assert len(coming - today) * 2 == len(coming) - len(FIXED_CLASSES)


async def test_the_system_counts_what_the_demo_says(system: System) -> None:
    """Booked and available seats come from the bookings, and they are what the file says."""
    lines = demo_with_new_ids(TODAY)
    await system.import_lines(lines)
    classes = await classes_by_id(system.partner(await system.key(studio=lines[0]["id"])))
    for line in lines:
        if line["object"] == "class":
            shown = classes[line["id"]]
            for name in ("booked_count", "available_count", "start_time"):
                assert shown[name] == line[name], name
