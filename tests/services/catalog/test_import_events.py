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
    """Created and updated, each as its GET shows it, with the old values; unchanged lines create none.

    The creation of the studio neither: no endpoint could exist before it.
    """
    key = await system.key(SCOPES)
    partner = system.partner(key)
    studio = (await partner.get("/studio")).json()
    place, class_type = import_lines.location(), import_lines.class_type()
    room, instructor = import_lines.room(place["id"]), import_lines.instructor()
    product = import_lines.product()
    lines = [place, room, class_type, instructor, product]
    since = await latest(system, key)
    for _ in range(2):
        await system.import_lines(lines, send_events=True)
        await system.import_lines([studio], send_events=True)
    created = await events_after(system, key, since, 5)
    assert sorted(event["type"] for event in created) == [
        "class_type.created",
        "instructor.created",
        "location.created",
        "product.created",
        "room.created",
    ]
    for event in created:
        resource = event["resource"]
        path = "/" + resource["object"].replace("_", "-") + f"s/{resource['id']}"
        assert event["data"]["object"] == (await partner.get(path)).json()
        assert event["data"].get("active") == (True if resource["object"] == "instructor" else None)
    changes = [
        place | {"city": "Boston"},
        room | {"name": "Upstairs"},
        class_type | {"name": "Slow"},
        instructor | {"active": False},
        product | {"prices": [product["prices"][0] | {"amount": "9.00"}]},
    ]
    await system.import_lines(changes, send_events=True)
    await system.import_lines([studio | {"name": "Renamed"}], send_events=True)
    updated = await events_after(system, key, created[-1]["sequence"], 6)
    data = {event["type"]: event["data"] for event in updated}
    prices = data.pop("product.updated")["previous"]["prices"]
    assert prices[0]["amount"] == "25.00"
    assert {kind: one["previous"] for kind, one in data.items()} == {
        "studio.updated": {"name": studio["name"]},
        "location.updated": {"city": "New York"},
        "room.updated": {"name": room["name"]},
        "class_type.updated": {"name": class_type["name"]},
        "instructor.updated": {},
    }
    assert data["instructor.updated"]["active"] is False
