"""The catalog creates events for what an import changes, and none for unchanged lines."""

from typing import Any

from tests.harness import import_lines
from tests.harness.system import System

SCOPES = ("studio:read", "schedule:read", "catalog:read", "webhooks:read")


async def events_after(system: System, key: str, sequence: int, count: int) -> list[dict[str, Any]]:
    """Waits for this many events after the sequence. They come through the outbox, the bus and the log."""
    partner, query = system.partner(key), {"after_sequence": sequence, "limit": 200}
    page = await partner.until("/events", lambda page: len(page["data"]) >= count, **query)
    return list(page["data"])


async def latest(system: System, key: str) -> int:
    return int((await system.partner(key).get("/events")).json()["latest_sequence"])


async def test_every_kind_of_the_catalog_creates_one_event(system: System) -> None:
    """Created and updated, each as its GET shows it, with the old values; unchanged lines create none."""
    key = await system.key(SCOPES)
    place, other = import_lines.location(), import_lines.location(name="Uptown")
    room, class_type = import_lines.room(place["id"]), import_lines.class_type()
    instructor, product = import_lines.instructor(), import_lines.product()
    lines = [place, other, room, class_type, instructor, product]
    since = await latest(system, key)
    await system.import_lines(lines, send_events=True)
    created = await events_after(system, key, since, 6)
    assert sorted(event["type"] for event in created) == [
        "class_type.created",
        "instructor.created",
        "location.created",
        "location.created",
        "product.created",
        "room.created",
    ]
    for event in created:
        resource = event["resource"]
        path = "/" + resource["object"].replace("_", "-") + f"s/{resource['id']}"
        assert event["data"]["object"] == (await system.partner(key).get(path)).json()
        assert event["data"].get("active") == (True if resource["object"] == "instructor" else None)
    since = created[-1]["sequence"]
    cheaper = product | {"prices": [product["prices"][0] | {"amount": "9.00"}]}
    gone = instructor | {"active": False}
    moved = room | {"location_id": other["id"]}
    await system.import_lines(lines, send_events=True)
    await system.import_lines(
        [place | {"city": "Boston"}, moved, class_type | {"name": "Slow"}, gone, cheaper], send_events=True
    )
    updated = await events_after(system, key, since, 5)
    previous = {event["type"]: event["data"].get("previous") for event in updated}
    assert set(previous) == {
        "location.updated",
        "room.updated",
        "class_type.updated",
        "instructor.updated",
        "product.updated",
    }
    assert previous["location.updated"] == {"city": "New York"}
    assert previous["room.updated"] is None
    assert previous["instructor.updated"] == {}
    assert previous["product.updated"]["prices"][0]["amount"] == "25.00"
    (left,) = [event for event in updated if event["type"] == "instructor.updated"]
    assert left["data"]["active"] is False
    # One more, for the location that the room has left.
    await system.partner(key).until("/events", lambda page: page["latest_sequence"] == since + 6)
    only_old = await system.key(SCOPES, locations=[place["id"]])
    seen = await events_after(system, only_old, since, 4)
    (thin,) = [event for event in seen if event["type"] == "room.updated"]
    assert thin["data"] == {"object": {"id": room["id"], "object": "room"}}
    assert thin["location_id"] == place["id"]


async def test_changes_of_the_studio_create_events(system: System) -> None:
    """Its creation does not: no endpoint could exist before it."""
    key = await system.key(SCOPES)
    shown = (await system.partner(key).get("/studio")).json()
    since = await latest(system, key)
    await system.import_lines([shown], send_events=True)
    await system.import_lines([shown | {"name": "Renamed"}], send_events=True)
    (event,) = await events_after(system, key, since, 1)
    assert (event["type"], event["data"]["previous"]) == ("studio.updated", {"name": shown["name"]})
