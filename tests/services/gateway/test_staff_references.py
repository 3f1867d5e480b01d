"""Staff can put a class or a purchase only where, and with whom, their own studio has something."""

from typing import Any

import pytest

from shared.wire import new_id
from tests.harness import import_lines as lines
from tests.harness.system import System

CLASS = {
    "title": "Flow",
    "start_time": "2035-01-01T08:00:00Z",
    "end_time": "2035-01-01T09:00:00Z",
    "capacity": 5,
}


async def a_catalog(system: System, studio_id: str) -> dict[str, str]:
    """One of each, by the field of a class that names it."""
    place = lines.location()
    rows = {
        "location_id": place,
        "room_id": lines.room(place["id"]),
        "instructor_id": lines.instructor(active=False),
        "class_type_id": lines.class_type(),
    }
    await system.import_lines(list(rows.values()), studio_id)
    return {field: row["id"] for field, row in rows.items()}


def named(answer: Any) -> list[tuple[list[str], str]]:
    assert answer.status == 422, answer.body
    assert answer.json()["error"]["code"] == "validation_failed"
    return [(problem["loc"], problem["type"]) for problem in answer.json()["detail"]]


@pytest.mark.parametrize("field", ["location_id", "room_id", "instructor_id", "class_type_id"])
async def test_a_class_cannot_refer_to_another_studios_catalog(system: System, field: str) -> None:
    """Neither a new class nor a changed one; an id that no studio has is refused in the same words."""
    own = await a_catalog(system, system.studio_id)
    theirs = await a_catalog(system, await system.new_studio())
    base = f"/studios/{system.studio_id}/classes"
    path = f"{base}/{(await system.operator.create(base, CLASS | own))['id']}"
    for unknown in (theirs[field], new_id()):
        refused = [(["body", field], "unknown_reference")]
        assert named(await system.operator.post(base, CLASS | own | {field: unknown})) == refused
        assert named(await system.operator.patch(path, {field: unknown})) == refused
    shown = (await system.operator.get(path)).json()
    assert {name: shown[name] for name in own} == own
    assert (await system.operator.patch(path, {field: None})).json()[field] is None


async def test_all_unknown_references_are_named_at_once(system: System) -> None:
    """And a body that cannot be read is left to the service that knows what is wrong with it."""
    theirs = await a_catalog(system, await system.new_studio())
    base = f"/studios/{system.studio_id}/classes"
    problems = named(await system.operator.post(base, CLASS | theirs))
    assert [loc for loc, _ in problems] == [["body", field] for field in theirs]
    assert named(await system.operator.post(base, CLASS | {"room_id": 7})) != []
    assert named(await system.operator.post(base, raw=b'{"room_id": ')) == [(["body"], "json_invalid")]


async def test_a_purchase_cannot_be_made_in_another_studios_location(system: System) -> None:
    """It would be hidden from every limited key of the studio."""
    theirs = await a_catalog(system, await system.new_studio())
    own = await a_catalog(system, system.studio_id)
    product, member = lines.product(), {"object": "member", "id": new_id(), "first_name": "Ada"}
    await system.import_lines([product, member])
    body = {"member_id": member["id"], "product_id": product["id"]}
    base = f"/studios/{system.studio_id}/purchases"
    refused = await system.operator.post(base, body | {"location_id": theirs["location_id"]})
    assert named(refused) == [(["body", "location_id"], "unknown_reference")]
    assert (await system.operator.post(base, body | {"location_id": own["location_id"]})).status == 201
