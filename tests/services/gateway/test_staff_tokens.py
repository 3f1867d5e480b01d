"""Staff tokens: every operators' route, for the own studio and for another one, with each role.

The cases come from the routes, so a new one is included automatically.
"""

import json
import re
from typing import Any

import pytest
from msgspec import Struct

from services.cli.openapi.operations import Operation, operator_operations
from services.gateway.access import OperatorAccess
from services.gateway.rules.key_text import STAFF_HEAD, hash_secret, make_token
from services.gateway.store import staff_tokens, studios
from shared.db.database import Database
from shared.http.caller import ROLES, Role
from shared.wire import new_id
from tests.harness import import_lines as lines
from tests.harness.http import Client, Reply
from tests.harness.system import System
from tests.services.bookings.samples import a_member

OPERATIONS = operator_operations()
BY_NAME = {f"{one.route.method} {one.route.path}": one for one in OPERATIONS}
# The query or body of these names the studio.
STUDIO_IN_QUERY = {"GET /clients", "GET /export", "GET /keys", "POST /import"}


class Staff(Struct):
    studio_id: str
    other_id: str
    clients: dict[Role, Client]
    other_key: str


_staff: list[tuple[str, str, dict[Role, str], str]] = []


async def staff_of(system: System) -> Staff:
    """One studio with a token of each role, and another one with a key, created once."""
    if not _staff:
        own, other = await system.new_studio(), await system.new_studio()
        roles: tuple[Role, ...] = ("staff", "manager")
        tokens = {role: (await system.staff_token(role, own))["token"] for role in roles}
        _staff.append((own, other, tokens, (await system.issue(studio=other))["id"]))
    own, other, tokens, key = _staff[0]
    return Staff(own, other, {role: system.staff(text) for role, text in tokens.items()}, key)


async def call(client: Client, operation: Operation, studio: str, **ids: str) -> Reply:
    """With unknown ids unless some are given, so that nothing is found or changed."""
    route = operation.route
    values = {"studio": studio, "queue": "nothing", "client": new_id()} | ids
    path = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], new_id()), route.path)
    query: dict[str, Any] = {"studio": studio} if f"{route.method} {route.path}" in STUDIO_IN_QUERY else {}
    body = {"studio": studio, "name": "x", "scopes": ["nothing"]} if path == "/keys" else {}
    sent = body if route.body is not None and route.method != "GET" else None
    return await client.send(route.method, path, sent, **query)


@pytest.mark.parametrize("name", BY_NAME)
async def test_a_token_gets_what_its_role_may_in_its_own_studio_alone(system: System, name: str) -> None:
    """403 `insufficient_role` exactly if the route needs a higher role.

    Another studio's path is 404 for reads and writes, with the message for a studio that does not exist.
    """
    staff, operation = await staff_of(system), BY_NAME[name]
    needed = operation.route.role
    for role, client in staff.clients.items():
        reply = await call(client, operation, staff.studio_id)
        if ROLES.index(role) >= ROLES.index(needed):
            assert reply.status not in (401, 403, 405), reply.body
        else:
            assert (reply.status, reply.code) == (403, "insufficient_role"), reply.body
            assert reply.json()["error"]["details"] == {"required_role": needed, "role": role}
        if "{studio}" in name:
            unknown = new_id()
            replies = [await call(client, operation, studio) for studio in (staff.other_id, unknown)]
            assert [(one.status, one.code) for one in replies] == [(404, "not_found")] * 2, replies
            messages = [one.json()["error"]["message"] for one in replies]
            assert messages[0].replace(staff.other_id, unknown) == messages[1]


async def test_a_manager_reaches_no_other_studio_through_query_body_or_id(system: System) -> None:
    """Keys, clients, imports and erasure of another studio are 404, and nothing changes."""
    staff = await staff_of(system)
    manager = staff.clients["manager"]
    for name in ("GET /keys/{key_id}", "POST /keys/{key_id}/rotate", "POST /keys/{key_id}/revoke"):
        reply = await call(manager, BY_NAME[name], staff.other_id, key_id=staff.other_key)
        assert reply.status == 404, (name, reply.body)
    assert (await system.operator.get(f"/keys/{staff.other_key}")).json()["revoked_at"] is None
    member = a_member()
    await system.import_lines([member], staff.other_id)
    assert (await manager.post(f"/members/{member['id']}/erase")).status == 404
    assert (await manager.post(f"/members/{member['id']}/erase", studio=staff.other_id)).status == 404
    found = await system.operator.get(f"/studios/{staff.other_id}/members/{member['id']}")
    assert found.json()["email"] == member["email"]


async def test_a_managers_lists_and_imports_hold_the_own_studio_only(system: System) -> None:
    """Even without `studio`; lines for another studio are rejected one by one."""
    staff = await staff_of(system)
    manager = staff.clients["manager"]
    assert [row["id"] for row in (await manager.get("/studios")).json()["data"]] == [staff.studio_id]
    assert (await manager.get("/keys")).json()["data"] == []
    mine, foreign = a_member(), a_member(studio_id=staff.other_id)
    lines = b"\n".join(json.dumps(line).encode() for line in (mine, foreign))
    report = (await manager.post("/import", raw=lines)).json()
    assert (report["imported"], [row["line"] for row in report["rejected"]]) == (1, [2])


async def test_a_token_is_shown_once_and_ends_with_its_revocation(system: System) -> None:
    """Listed without its secret, its use is recorded, and it is refused once revoked."""
    issued = await system.staff_token("staff")
    assert issued["token"].startswith("stf_") and issued["token"].startswith(issued["prefix"])
    client, base = system.staff(issued["token"]), f"/studios/{system.studio_id}"
    assert (await client.get(f"{base}/classes")).status == 200
    (listed,) = (await system.operator.get(f"{base}/staff-tokens")).json()["data"]
    assert listed["last_used_at"] is not None and "token" not in listed
    revoked = await system.operator.post(f"{base}/staff-tokens/{issued['id']}/revoke")
    assert revoked.json()["revoked_at"] is not None
    refused = await client.get(f"{base}/classes")
    assert refused.status in (401, 429)
    assert (await system.operator.post(f"{base}/staff-tokens/{new_id()}/revoke")).status == 404


async def test_a_made_up_token_is_refused(system: System) -> None:
    """With a good checksum, a wrong secret under a known id, and a broken checksum."""
    issued = await system.staff_token("manager")
    stranger = make_token(STAFF_HEAD).text
    forged = issued["token"][:-20] + stranger[-20:]
    for text in (stranger, forged, issued["token"][:-1], "stf_"):
        refused = await system.staff(text).get("/studios")
        assert refused.status in (401, 429), text
    assert (await system.staff(issued["token"]).get("/studios")).status == 200


async def test_a_token_outlives_the_pepper_that_it_was_issued_under(db: Database) -> None:
    """One use while both are known stores a hash under the new one, also right after another use."""
    new, studio_id = make_token(STAFF_HEAD), new_id()
    async with db.transaction() as conn:
        await studios.upsert(conn, [{"id": studio_id, "slug": "s", "name": "S", "timezone": "UTC"}])
        stored = hash_secret("old", new.secret)
        await staff_tokens.add(conn, studio_id, new, name="Desk", role="staff", secret_hash=stored)
    headers = {b"authorization": f"Bearer {new.text}".encode()}
    assert not await OperatorAccess((), db, ("new",)).recognise(headers)
    for peppers in (("old",), ("new", "old"), ("new",)):
        assert await OperatorAccess((), db, peppers).recognise(headers), peppers


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


def named(response: Any) -> list[tuple[list[str], str]]:
    assert response.status == 422, response.body
    assert response.json()["error"]["code"] == "validation_failed"
    return [(problem["loc"], problem["type"]) for problem in response.json()["detail"]]


async def test_a_class_cannot_refer_to_another_studios_catalog(system: System) -> None:
    """Neither a new class nor a changed one; an id that no studio has is refused in the same words.

    All of them are named at once, and a body that cannot be read is left to the service that knows what is
    wrong with it.
    """
    own = await a_catalog(system, system.studio_id)
    theirs = await a_catalog(system, await system.new_studio())
    base = f"/studios/{system.studio_id}/classes"
    path = f"{base}/{(await system.operator.create(base, CLASS | own))['id']}"
    for unknown in (theirs, {field: new_id() for field in own}):
        refused = [(["body", field], "unknown_reference") for field in own]
        assert named(await system.operator.post(base, CLASS | unknown)) == refused
        for field, problem in zip(own, refused, strict=True):
            assert named(await system.operator.patch(path, {field: unknown[field]})) == [problem]
    shown = (await system.operator.get(path)).json()
    assert {name: shown[name] for name in own} == own
    for field in own:
        assert (await system.operator.patch(path, {field: None})).json()[field] is None
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
