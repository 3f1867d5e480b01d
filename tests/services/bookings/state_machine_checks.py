"""Compares counts, positions, credits, events and every GET with the model, after each step."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from tests.services.bookings.state_machine import StudioMachine


async def compare(machine: "StudioMachine") -> None:
    client, model = machine.client, machine.model
    classes = {row["id"]: row for row in await client.list_all("/classes")}
    for c, class_id in enumerate(machine.classes):
        booked, held, course = len(model.seated(c)), len(model.live_holds(c)), model.courses[c]
        shown = classes[class_id]
        counts = (shown["capacity"], shown["booked_count"], shown["held_count"], shown["available_count"])
        assert counts == (course.capacity, booked, held, max(0, course.capacity - booked - held))
        assert shown["status"] == course.status
    bookings = {row["id"]: row for row in await client.list_all("/bookings", limit=200)}
    assert not [
        n for n, one in enumerate(model.bookings) if one.only_held and machine.bookings[n] in bookings
    ]
    for status in ("held", "expired", "cancelled") if any(one.only_held for one in model.bookings) else ():
        rows = await client.list_all("/bookings", limit=200, status=status)
        assert {row["status"] for row in rows} <= {status}
        bookings |= {row["id"]: row for row in rows}
    entries = {row["id"]: row for row in await client.list_all("/waitlist", limit=200)}
    _compare_bookings(machine, bookings)
    _compare_entries(machine, entries)
    async with client.service.db.connection() as conn:
        rows = await conn.fetch(
            "SELECT id, credits FROM members WHERE studio_id = $1", client.caller.studio_id
        )
    credits = {row["id"]: row["credits"] for row in rows}
    assert [credits[member] for member in machine.members] == [person.credits for person in model.people]
    await _compare_events(machine, {"booking": bookings, "waitlist": entries, "class": classes})


def _compare_bookings(machine: "StudioMachine", shown: dict[str, Any]) -> None:
    model = machine.model
    positions = {entry.booking: entry.position for entry in model.entries if entry.status == "waiting"}
    assert len(shown) == len(model.bookings)
    for n, booking in enumerate(model.bookings):
        row = shown[machine.bookings[n]]
        spot = machine.spots[booking.spot] if booking.spot is not None else None
        told = (row["class_id"], row["member_id"], row["status"], row["waitlist_position"])
        expected = (machine.classes[booking.course], machine.members[booking.person], booking.shown)
        assert told == (*expected, positions.get(n))
        assert row["class_spot_id"] == spot
        assert (row["held_until"] is not None) == (booking.shown == "held")


def _compare_entries(machine: "StudioMachine", shown: dict[str, Any]) -> None:
    model = machine.model
    assert len(shown) == len(model.entries)
    for n, entry in enumerate(model.entries):
        row = shown[machine.entries[n]]
        assert (row["position"], row["status"]) == (entry.position, entry.status)
        assert row["converted_to_booking"] == (entry.status == "converted")


async def _compare_events(machine: "StudioMachine", shown: dict[str, dict[str, Any]]) -> None:
    """The events since the last step are the model's, with the resource as GET shows it."""
    async with machine.client.service.db.connection() as conn:
        rows = await conn.fetch(
            "SELECT id, envelope FROM outbox WHERE id > $1 ORDER BY id", machine.last_event
        )
    events = [msgspec.json.decode(row["envelope"]) for row in rows]
    events = [event for event in events if event["studio_id"] == machine.client.caller.studio_id]
    machine.last_event = rows[-1]["id"] if rows else machine.last_event
    ids = {"booking": machine.bookings, "waitlist": machine.entries, "class": machine.classes}
    events = [event for event in events if event["resource"]["object"] in ids]
    machine.model.tell_availability()
    expected = Counter((kind, ids[kind.split(".")[0]][n]) for kind, n in machine.model.events)
    machine.model.events.clear()
    assert Counter((event["type"], event["resource"]["id"]) for event in events) == expected
    last = {id_: event["id"] for event in events for id_ in _counted_in(event)}
    for event in events:
        resource = event["resource"]
        if last[resource["id"]] == event["id"] and not machine.untold:
            assert event["data"]["object"] == shown[resource["object"]][resource["id"]]
        assert resource["version"] > machine.versions.get(resource["id"], 0)
        machine.versions[resource["id"]] = resource["version"]
    machine.untold = False


def _counted_in(event: dict[str, Any]) -> set[str | None]:
    """What the event is about, and the class whose counts it may have changed.

    A class that reopens because its holds have run out tells its seats before the booking that takes one.
    """
    return {event["resource"]["id"], event["data"]["object"].get("class_id")}
