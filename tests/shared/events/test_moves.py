"""What moves to another location, seen by a key of the old one and by a key of the new one."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from shared.wire import new_id
from tests.end_to_end.test_every_kind import Causes, made
from tests.harness import import_lines as lines
from tests.harness.eventually import eventually
from tests.harness.http import Client
from tests.harness.system import System

MOVED = {"room.updated", "class.updated", "booking.updated", "waitlist.updated", "purchase.updated"}
ERASED = {"member.erased", "lead.erased"}
ALWAYS_THIN = {"form.submitted", "submission.updated"}


class Move:
    """A room, a class with bookings and a waitlist, and a purchase, on their way to another location."""

    def __init__(self, causes: Causes) -> None:
        self.causes = causes
        self.old, self.new = lines.location(name="Old place"), lines.location(name="New place")
        self.room = lines.room(self.old["id"], name="Old room")
        self.class_ = lines.class_(location_id=self.old["id"], title="Old title")
        self.homeless = lines.class_(title="Old title of a class without a location")
        self.people = [{"object": "member", "id": new_id(), "first_name": "Ada"} for _ in range(2)]
        self.purchase = {
            "object": "purchase",
            "id": new_id(),
            "member_id": self.people[0]["id"],
            "product_key": "old key",
            "product_type": "package",
            "location_id": self.old["id"],
        }

    async def prepare(self) -> None:
        places = (self.old, self.new)
        await self.causes.imported(
            *places, self.room, self.class_, self.homeless, *self.people, self.purchase
        )
        for person in self.people:
            await self.causes.book(self.class_["id"], str(person["id"]))

    async def by_import(self) -> None:
        there = {"location_id": self.new["id"]}
        classes = [line | there | {"title": "New title"} for line in (self.class_, self.homeless)]
        purchase = self.purchase | there | {"product_key": "new key"}
        await self.causes.imported(self.room | there | {"name": "New room"}, *classes, purchase)

    async def by_staff(self) -> None:
        """The classes only: nothing else can be moved there."""
        body = {"location_id": self.new["id"], "title": "New title"}
        for line in (self.class_, self.homeless):
            await self.causes.staff("PATCH", f"/classes/{line['id']}", body)


def is_thin(event: Any) -> bool:
    return set(event["data"]["object"]) <= {"id", "object", "status", "form_id"}


async def events_of(system: System, key: str, kinds: set[str], *, thin: bool = False) -> list[Any]:
    """The events of these kinds that the key sees, whole or thin, once there is one of each kind."""
    found: list[Any] = []

    async def has_all() -> bool:
        page = made(await system.partner(key).get("/events", limit=200))
        found[:] = [one for one in page["data"] if one["type"] in kinds and is_thin(one) is thin]
        return {event["type"] for event in found} == kinds

    try:
        await eventually(has_all)
    except TimeoutError:
        raise AssertionError(f"only {sorted({one['type'] for one in found})}") from None
    return found


@pytest.mark.parametrize(
    ("who", "kinds"),
    [("by_import", MOVED), ("by_staff", {"class.updated", "booking.updated", "waitlist.updated"})],
)
async def test_a_new_locations_key_learns_no_old_values(system: System, who: str, kinds: set[str]) -> None:
    """Whoever moved it: the new location gets the resource as it is now, without `data.previous`."""
    move = Move(Causes(system, system.partner(await system.key())))
    await move.prepare()
    key = await system.key(locations=[move.new["id"]])
    await getattr(move, who)()
    events = await events_of(system, key, kinds)
    assert {event["data"]["object"].get("title") for event in events} >= {"New title"}
    for event in events:
        text = json.dumps(event["data"])
        assert "previous" not in event["data"], event
        assert move.old["id"] not in text and '"Old' not in text and "old key" not in text, event


async def test_every_thin_event_obeys_the_published_schema(system: System, partner: Client) -> None:
    """In `GET /event-types` and in the OpenAPI document: moved, erased, unpublished and always thin ones."""
    causes = Causes(system, partner)
    move = Move(causes)
    await move.prepare()
    left_behind = await system.key(locations=[move.old["id"]])
    reader = await system.key(("forms:read", "webhooks:read"))
    await move.by_import()
    lead = await causes.forms_and_leads()
    await causes.erase(str(move.people[0]["id"]), lead)
    form = made(await partner.post("/forms", {"title": "Waiver", "status": "published"}))["id"]
    made(await partner.put(f"/forms/{form}", {"status": "archived"}))
    thin = await events_of(system, left_behind, MOVED | ERASED | ALWAYS_THIN, thin=True)
    thin += await events_of(system, reader, {"form.updated"}, thin=True)
    listed = {kind["name"]: kind["schema"] for kind in made(await partner.get("/event-types"))["data"]}
    document = made(await partner.get("/openapi.json"))
    for event in thin:
        post = document["webhooks"][event["type"]]["post"]
        body = post["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.validate(event, listed[event["type"]])
        jsonschema.validate(event, {**body, "components": document["components"]})
