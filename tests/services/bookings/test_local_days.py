"""Local days: on which day a class starts by the clock of its location, also where clocks change."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shared.wire import new_id
from tests.harness.import_lines import location
from tests.services.bookings.samples import a_class, a_studio
from tests.services.bookings.studio_client import StudioClient

ZONES = {
    # A day of 25 hours with a repeated hour, and one of 23, in each; Lord Howe moves by half an hour.
    "America/Chicago": ("2026-11-01", "2026-03-08"),
    "Europe/London": ("2026-10-25", "2026-03-29"),
    "Australia/Lord_Howe": ("2026-04-05", "2026-10-04"),
    # To Postgres these are abbreviations, too, without a summer time.
    **dict.fromkeys(("CET", "MET", "EET", "WET"), ("2026-07-01",)),
}


def classes_around(day: str, place: str, *, hours: int = 40) -> list[dict[str, Any]]:
    """One every half hour, from well before the day to well after it."""
    middle = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    starts = [middle + timedelta(minutes=30 * step) for step in range(-2 * hours, 2 * hours)]
    return [
        a_class(location_id=place, start_time=start, end_time=start + timedelta(minutes=25))
        for start in starts
    ]


def local_day(class_: dict[str, Any], zone: str) -> str:
    start: datetime = class_["start_time"]
    return start.astimezone(ZoneInfo(zone)).date().isoformat()


@pytest.mark.parametrize("zone", ZONES)
async def test_the_classes_of_a_day_where_clocks_change(client: StudioClient, zone: str) -> None:
    """Those in the repeated hour are all listed, and none of the day before or after."""
    place = location(timezone=zone)
    for day in ZONES[zone]:
        lines = classes_around(day, place["id"])
        await client.import_all(place, *lines)
        shown = await client.list_all("/classes", on=day, limit=200)
        assert [one["id"] for one in shown] == [line["id"] for line in lines if local_day(line, zone) == day]
        assert {one["timezone"] for one in shown} == {zone}
        for one in shown:
            start = datetime.fromisoformat(one["start_time"]).astimezone(ZoneInfo(zone))
            assert one["start_local"] == start.replace(tzinfo=None).isoformat()


async def test_a_day_that_never_was_has_no_classes(client: StudioClient) -> None:
    place = location(timezone="Pacific/Apia")
    lines = classes_around("2011-12-30", place["id"])
    await client.import_all(place, *lines)
    assert await client.list_all("/classes", on="2011-12-30") == []
    days = [await client.list_all("/classes", on=day) for day in ("2011-12-29", "2011-12-31")]
    assert days[0][-1]["start_local"] == "2011-12-29T23:30:00"
    assert days[1][0]["start_local"] == "2011-12-31T00:00:00"


async def test_each_class_has_the_day_of_its_own_place(client: StudioClient) -> None:
    """Its location's, the studio's without a location, and UTC if there is no zone that is known."""
    far, near = location(timezone="Pacific/Kiritimati"), location(timezone="Pacific/Pago_Pago")
    odd = location(timezone="Mars/Phobos")
    start = datetime(2026, 6, 10, 10, 30, tzinfo=UTC)
    times = {"start_time": start, "end_time": start + timedelta(hours=1)}
    lines = [a_class(location_id=place["id"] if place else None, **times) for place in (far, near, odd, None)]
    await client.import_all(far, near, odd, *lines)
    shown = {one["id"]: one for one in await client.list_all("/classes")}
    told = [(shown[line["id"]]["timezone"], shown[line["id"]]["start_local"]) for line in lines]
    assert told == [
        ("Pacific/Kiritimati", "2026-06-11T00:30:00"),
        ("Pacific/Pago_Pago", "2026-06-09T23:30:00"),
        ("UTC", "2026-06-10T10:30:00"),
        ("UTC", "2026-06-10T10:30:00"),
    ]
    for day, expected in (("2026-06-11", {0}), ("2026-06-09", {1}), ("2026-06-10", {2, 3})):
        found = {one["id"] for one in await client.list_all("/classes", on=day)}
        assert found == {lines[number]["id"] for number in expected}
    await client.import_all(a_studio(client.caller.studio_id) | {"timezone": "Asia/Tokyo"})
    shown = {one["id"]: one for one in await client.list_all("/classes")}
    assert [shown[line["id"]]["timezone"] for line in lines[2:]] == ["Asia/Tokyo"] * 2


async def test_a_location_that_changes_its_zone_changes_its_classes(client: StudioClient) -> None:
    """Without events or versions of theirs; a class that moves takes the zone of its new place."""
    one, two = location(timezone="Europe/London"), location(timezone="America/Chicago")
    start = datetime(2026, 6, 10, 23, 30, tzinfo=UTC)
    class_ = a_class(location_id=one["id"], start_time=start, end_time=start + timedelta(hours=1))
    await client.import_all(one, two, class_)

    async def told() -> tuple[str, str]:
        read = await client.get_ok(f"/classes/{class_['id']}")
        assert read == (await client.list_all("/classes"))[0]
        return read["timezone"], read["start_local"]

    assert await told() == ("Europe/London", "2026-06-11T00:30:00")
    before = await client.events()
    await client.import_all(one | {"timezone": "Europe/Lisbon"})
    assert await told() == ("Europe/Lisbon", "2026-06-11T00:30:00")
    await client.import_all(one | {"timezone": "Asia/Tokyo"}, send_events=True)
    assert await told() == ("Asia/Tokyo", "2026-06-11T08:30:00")
    assert await client.events() == before
    assert (await client.change_class(class_, location_id=two["id"])).status == 200
    assert await told() == ("America/Chicago", "2026-06-10T18:30:00")


async def test_a_day_combines_with_the_other_filters_and_is_checked(client: StudioClient) -> None:
    place, teacher = location(timezone="America/Chicago"), new_id()
    lines = classes_around("2026-06-10", place["id"], hours=30)
    for line in lines[::3]:
        line["instructor_id"] = teacher
    await client.import_all(place, *lines)
    on = {"on": "2026-06-10"}
    day = [line["id"] for line in lines if local_day(line, "America/Chicago") == "2026-06-10"]
    taught = [line["id"] for line in lines[::3] if line["id"] in day]
    assert [one["id"] for one in await client.list_all("/classes", instructor_id=teacher, **on)] == taught
    assert [
        one["id"] for one in await client.list_all("/classes", location_id=place["id"], limit=7, **on)
    ] == day
    later = await client.list_all("/classes", starts_after="2026-06-10T23:00:00Z", **on)
    assert [one["id"] for one in later] == day[-12:]
    for bad in ("2026-02-30", "tomorrow", "2026-06-10T00:00:00Z", ""):
        assert (await client.get("/classes", on=bad)).status == 422, bad
    for empty in ("0001-01-01", "9999-12-31"):
        assert await client.list_all("/classes", on=empty) == []
