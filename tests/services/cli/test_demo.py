"""The demo studio's file: stable, whole, and in an order that can be imported line by line."""

from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.cli.demo import STUDIO_ID, demo_lines
from services.cli.demo.timetable import FIXED_CLASSES

MONDAY = date(2026, 8, 3)
BEFORE_SPRING = date(2027, 3, 8)  # the clocks go forward on the 14th
BEFORE_AUTUMN = date(2026, 10, 26)  # the clocks go back on November 1st


def lines(today: date = MONDAY) -> list[dict[str, Any]]:
    return list(demo_lines(today))


def of_kind(kind: str, today: date = MONDAY) -> list[dict[str, Any]]:
    return [line for line in lines(today) if line["object"] == kind]


def weekly_classes(today: date = MONDAY) -> list[dict[str, Any]]:
    """Those of the timetable, which moves with the day."""
    fixed = {session.id for session in FIXED_CLASSES}
    return [line for line in of_kind("class", today) if line["id"] not in fixed]


def instant(text: str) -> datetime:
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


def test_every_id_is_used_once() -> None:
    """An id names one resource of the whole file, prices included."""
    ids = [line["id"] for line in lines()]
    ids += [price["id"] for product in of_kind("product") for price in product["prices"]]
    assert [id for id, times in Counter(ids).items() if times > 1] == []


def test_the_file_holds_what_a_newcomer_wants_to_try() -> None:
    """Two locations, eight class types, two weeks of classes, people in every state."""
    counts = Counter(line["object"] for line in lines())
    assert (counts["studio"], counts["location"], counts["class_type"]) == (1, 2, 8)
    assert 20 <= counts["member"] <= 30
    assert counts["class"] >= 30
    assert {member["role"] for member in of_kind("member")} == {"member", "user", "lead"}
    assert {m["status"] for m in of_kind("membership")} >= {"active", "paused", "past_due"}
    assert {form["status"] for form in of_kind("form")} == {"published", "draft"}
    assert [i["name"] for i in of_kind("instructor") if not i["active"]] == ["Tom Becker"]
    assert len({location["timezone"] for location in of_kind("location")}) == 2
    assert any(line["credit_cost"] for line in of_kind("class"))


def test_classes_lie_in_the_two_weeks_from_today_on() -> None:
    """The first class is today's or later, the last within fourteen days, in the studio's own time."""
    zone = ZoneInfo("America/New_York")
    days = {instant(line["start_time"]).astimezone(zone).date() for line in weekly_classes()}
    assert min(days) == MONDAY
    assert max(days) == MONDAY + timedelta(days=13)


@pytest.mark.parametrize("today", [BEFORE_SPRING, BEFORE_AUTUMN], ids=["spring", "autumn"])
def test_a_class_keeps_its_hour_across_a_clock_change(today: date) -> None:
    """In each location's own time a weekly class begins at the same hour before and after the change."""
    zones = {line["id"]: ZoneInfo(line["timezone"]) for line in of_kind("location", today)}
    hours: dict[tuple[str, str, int], set[str]] = defaultdict(set)
    offsets: set[timedelta | None] = set()
    for line in weekly_classes(today):
        local = instant(line["start_time"]).astimezone(zones[line["location_id"]])
        hours[line["location_id"], line["title"], local.weekday()].add(local.strftime("%H:%M"))
        offsets.add(local.utcoffset())
        length = instant(line["end_time"]) - instant(line["start_time"])
        assert timedelta(minutes=30) <= length <= timedelta(minutes=90)
    assert len(offsets) == 3, "the two weeks must hold a clock change in both zones"
    assert all(len(seen) == 1 for seen in hours.values())


def test_the_classes_of_the_reference_are_in_every_demo() -> None:
    """The samples name them, on whatever day the demo was loaded."""
    early, late = ({line["id"] for line in of_kind("class", day)} for day in (MONDAY, BEFORE_SPRING))
    assert early & late == {session.id for session in FIXED_CLASSES}


def test_a_line_names_only_what_an_earlier_line_made() -> None:
    """A line refers only to ids of earlier lines."""
    seen: set[str] = set()
    for line in lines():
        references = {
            name: value
            for name, value in line.items()
            if name.endswith("_id") and isinstance(value, str) and name != "studio_id"
        }
        assert all(value in seen for value in references.values()), line
        assert line.get("studio_id", STUDIO_ID) == STUDIO_ID
        seen.add(line["id"])


def test_bookings_fit_their_classes() -> None:
    """Confirmed bookings are within capacity and counted right; only a full class has a waitlist."""
    confirmed: Counter[str] = Counter()
    waiting: dict[str, list[int]] = defaultdict(list)
    for booking in of_kind("booking"):
        if booking["status"] == "confirmed":
            confirmed[booking["class_id"]] += 1
        else:
            waiting[booking["class_id"]].append(booking["waitlist_position"])
    for line in of_kind("class"):
        booked = confirmed[line["id"]]
        assert booked == line["booked_count"] <= line["capacity"]
        assert line["available_count"] == line["capacity"] - booked
        queue = waiting[line["id"]]
        assert queue == list(range(1, len(queue) + 1))
        assert not queue or (line["allow_waitlist"] and booked == line["capacity"])
    entries = {(e["class_id"], e["member_id"], e["position"]) for e in of_kind("waitlist")}
    queued = [b for b in of_kind("booking") if b["status"] == "waitlisted"]
    assert entries == {(b["class_id"], b["member_id"], b["waitlist_position"]) for b in queued}
    assert any(line["available_count"] == 1 for line in of_kind("class")), "one is nearly full"


def test_every_booking_is_one_the_rules_would_allow() -> None:
    """Once per class and member, never a suspended one, paid classes by subscribers only, one spot each."""
    classes = {line["id"]: line for line in of_kind("class")}
    active = {m["member_id"] for m in of_kind("membership") if m["status"] == "active"}
    suspended = {m["id"] for m in of_kind("member") if m["suspended"]}
    spots = {spot["id"]: spot for spot in of_kind("class_spot")}
    bookings = of_kind("booking")
    pairs = Counter((b["class_id"], b["member_id"]) for b in bookings)
    assert max(pairs.values()) == 1
    taken: Counter[str] = Counter()
    for booking in bookings:
        line = classes[booking["class_id"]]
        assert booking["member_id"] not in suspended
        assert not line["credit_cost"] or booking["member_id"] in active
        if line["spot_selection_mode"] == "required":
            assert spots[booking["class_spot_id"]]["class_id"] == line["id"]
            assert not spots[booking["class_spot_id"]]["available"]
            taken[booking["class_spot_id"]] += 1
        assert instant(booking["created_at"]) < datetime.combine(MONDAY, datetime.min.time(), UTC)
    assert taken and max(taken.values()) == 1


def test_addresses_are_under_example_com_and_unique() -> None:
    """No demo email can reach anybody; an email belongs to one member and one lead."""
    for kind in ("member", "lead"):
        emails = [line["email"] for line in of_kind(kind)]
        assert all(email.endswith("@example.com") for email in emails)
        assert len(set(emails)) == len(emails)
