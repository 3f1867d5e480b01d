"""Every change of a class, booking, membership or purchase writes its event in its own transaction."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.bookings.actions.due_work import update_due_memberships
from shared.wire import new_id
from tests.harness.bookable_studio import Bookable, bookable
from tests.services.bookings.studio_client import StudioClient


@pytest.fixture
async def studio(client: StudioClient) -> Bookable:
    made = bookable(members=3, seats=1)
    await client.import_all(*made.lines)
    return made


async def told(client: StudioClient, *, since: int = 0) -> list[Any]:
    return (await client.events())[since:]


def kinds(events: list[Any]) -> list[str]:
    return [event["type"] for event in events]


async def test_staff_changes_of_a_class_contain_the_old_values(
    client: StudioClient, studio: Bookable
) -> None:
    """Counts do not count as a change of the class, and a change without effect creates no event."""
    class_id, staff = studio.class_ids[0], client.staff
    before = await client.get_ok(f"/classes/{class_id}")
    await staff.call("PATCH", f"/staff/classes/{class_id}", {"title": "Slow", "capacity": 2})
    (updated,) = await told(client)
    assert updated["type"] == "class.updated"
    assert updated["data"]["previous"] == {"title": before["title"], "capacity": 1}
    assert updated["data"]["object"] == await client.get_ok(f"/classes/{class_id}")
    await staff.call("PATCH", f"/staff/classes/{class_id}", {"title": "Slow"})
    assert len(await told(client)) == 1
    await staff.call("PATCH", f"/staff/classes/{class_id}", {"capacity": 0})
    assert kinds(await told(client, since=1)) == ["class.full", "class.updated"]


async def test_a_new_class_and_a_purchase_create_events(client: StudioClient, studio: Bookable) -> None:
    """As their GET shows them."""
    start = datetime.now(UTC) + timedelta(days=1)
    body = {"title": "New", "start_time": start, "end_time": start + timedelta(hours=1), "capacity": 3}
    made = (await client.staff.call("POST", "/staff/classes", body)).json
    product = next(line["id"] for line in studio.lines if line["object"] == "product")
    location = new_id()
    bought = await client.staff.call(
        "POST",
        "/staff/purchases",
        {"member_id": studio.member_ids[0], "product_id": product, "location_id": location},
    )
    created, purchased = await told(client)
    assert created["type"] == "class.created" and created["data"] == {"object": made}
    assert purchased["type"] == "purchase.created" and purchased["data"] == {"object": bought.json}
    assert purchased["location_id"] == location


async def test_attendance_creates_events(client: StudioClient, studio: Bookable) -> None:
    """Checked in, undone with the old values, checked in again."""
    booking_id = (await client.book(studio.class_ids[0], studio.member_ids[0])).json["id"]
    since = len(await told(client))
    for step in ("check-in", "undo-check-in"):
        reply = await client.staff.call("POST", f"/staff/bookings/{booking_id}/{step}")
        assert reply.status == 200, reply.body
    checked, undone = await told(client, since=since)
    assert checked["type"] == "booking.checked_in" and "previous" not in checked["data"]
    assert undone["type"] == "booking.updated"
    before = {"status": "checked_in", "updated_at": checked["data"]["object"]["updated_at"]}
    assert undone["data"]["previous"] == before
    assert undone["data"]["object"] == await client.get_ok(f"/bookings/{booking_id}")
    assert undone["resource"]["version"] == checked["resource"]["version"] + 1


async def test_memberships_create_events_by_staff_and_by_date(client: StudioClient, studio: Bookable) -> None:
    """A pause, its scheduled end, a cancellation: each with the old values."""
    membership = next(line["id"] for line in studio.lines if line["object"] == "membership")
    path = f"/staff/memberships/{membership}"
    soon = datetime.now(UTC) + timedelta(milliseconds=1)
    await client.staff.call("POST", f"{path}/pause", {"resumes_at": soon})
    async with client.service.db.connection() as conn:
        await conn.execute("UPDATE memberships SET due_at = now() WHERE id = $1", membership)
        await conn.execute("SELECT pg_sleep(0.01)")
    await update_due_memberships(client.service)
    await client.staff.call("POST", f"{path}/cancel", {})
    events = await told(client)
    assert kinds(events) == ["membership.updated"] * 3
    assert [event["data"]["previous"]["status"] for event in events] == ["active", "paused", "active"]
    assert events[-1]["data"]["object"] == await client.get_ok(f"/memberships/{membership}")
    assert [event["resource"]["version"] for event in events] == [2, 3, 4]


async def test_a_class_that_moves_creates_events_for_both_locations(
    client: StudioClient, studio: Bookable
) -> None:
    """With its bookings and its waitlist. A key that cannot see the new location gets only `{id, object}`."""
    old, new, class_id = new_id(), new_id(), studio.class_ids[0]
    await client.staff.call("PATCH", f"/staff/classes/{class_id}", {"location_id": old})
    booking = (await client.book(class_id, studio.member_ids[0])).json["id"]
    await client.book(class_id, studio.member_ids[1], join_waitlist=True)
    since = len(await told(client))
    await client.staff.call("PATCH", f"/staff/classes/{class_id}", {"location_id": new})
    events = await told(client, since=since)
    assert sorted(kinds(events)) == sorted(
        ["class.updated"] * 2 + ["booking.updated"] * 4 + ["waitlist.updated"] * 2
    )
    for event in events:
        thin = set(event["data"]["object"]) == {"id", "object"}
        assert (event["location_id"] == old) is thin
        assert event.get("audience") == ("left_location" if thin else None)
        assert event.get("moved_to") == (new if thin else None)
    (whole,) = (
        event for event in events if event["resource"]["id"] == booking and event["location_id"] == new
    )
    assert whole["data"]["object"] == await client.get_ok(f"/bookings/{booking}")
    assert whole["resource"]["version"] == 2
