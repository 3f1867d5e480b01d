"""The audit log: every write by operators and staff, and nothing else."""

from typing import Any, cast
from urllib.parse import quote

import pytest

from services.gateway.actions.read_audit import SENTENCES
from services.gateway.routes.operator.audit_trail import action_of, target_of
from services.gateway.routes.operator.port import operator_handlers
from shared.routing import STAFF_ROUTES, OperatorRoute
from shared.wire import encode, new_id, now
from tests.harness import import_lines
from tests.harness.console import PAGE, cookie_in, operator_sign_in
from tests.harness.http import Client
from tests.harness.system import System

ID = "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55"


@pytest.mark.parametrize(
    ("method", "path", "action", "values", "target"),
    [
        ("POST", "/studios", "studios.create", {}, "new"),
        ("POST", "/keys", "keys.create", {}, "new"),
        ("POST", "/keys/{key_id}/revoke", "keys.revoke", {"key_id": ID}, ID),
        ("PATCH", "/clients/{client}", "clients.update", {"client": "Partner Inc"}, "Partner Inc"),
        ("PATCH", "/clients/{client}", "clients.update", {"client": "ヨガ"}, "ヨガ"),
        (
            "POST",
            "/clients/{client}/console-sessions",
            "clients.console-sessions.create",
            {"client": "p"},
            "p",
        ),
        ("POST", "/studios/{studio}/classes", "classes.create", {"studio": "mine"}, "mine"),
        ("POST", "/studios/{studio}/classes/{id}/cancel", "classes.cancel", {"studio": "s", "id": ID}, ID),
        ("POST", "/queues/{queue}/parked/requeue", "queues.parked.requeue", {"queue": "q"}, "q"),
        ("POST", "/sequences/advance", "sequences.advance", {}, "all"),
        ("POST", "/import", "import", {}, "all"),
        ("POST", "/keys/{key_id}/revoke", "keys.revoke", {"key_id": "a\x00\x1b[31mb"}, "a[31mb"),
    ],
)
def test_action_and_target_are_those_of_the_route(
    method: str, path: str, action: str, values: dict[str, str], target: str
) -> None:
    """The noun and the verb, and the last value in the path. There is always a target."""
    route = OperatorRoute(method, path)
    assert action_of(route) == action
    assert target_of(route, values, b"", "") == target


def test_a_write_without_an_id_in_its_path_is_of_a_studio() -> None:
    """Of the one in the query; otherwise of the one that the staff token is for."""
    route = OperatorRoute("POST", "/import")
    assert target_of(route, {}, b"first_line=1&studio=mine", "own") == "mine"
    assert target_of(route, {}, b"first_line=1", "own") == "own"


def test_every_route_but_a_read_is_audited() -> None:
    """A POST that only evaluates is a read too."""
    unaudited = {route.path for route in STAFF_ROUTES if route.method != "GET" and not route.is_write}
    assert unaudited == {"/studios/{studio}/forms/{form_id}/evaluate"}
    assert not any(route.is_write for route in STAFF_ROUTES if route.method == "GET")


async def entries_of(system: System, request_id: str, since: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = (await system.operator.get("/audit", since=since, limit=200, cursor=cursor)).json()
        found += [entry for entry in page["data"] if entry["request_id"] == request_id]
        if not page["has_more"]:
            return found
        cursor = page["next_cursor"]


async def test_a_write_leaves_who_did_what_to_what(system: System) -> None:
    """For operators, staff tokens and sessions; a new resource is named by its id."""
    since = now().isoformat()

    async def done(client: Client, path: str, body: Any = None) -> tuple[Any, tuple[str, str, str]]:
        request_id = new_id()
        reply = await client.post(path, body, headers={"X-Request-Id": request_id})
        (entry,) = await entries_of(system, request_id, since)
        assert {"id", "object", "at", "actor", "action", "target", "request_id"} <= set(entry)
        return reply.json(), (entry["actor"], entry["action"], entry["target"])

    path = f"/studios/{system.studio_id}/staff-tokens"
    token, entry = await done(system.operator, path, {"name": "Desk", "role": "manager"})
    assert entry == ("operator", "staff-tokens.create", token["id"])
    key = {"studio": system.studio_id, "name": "p", "scopes": ["studio:read"]}
    made, entry = await done(system.staff(token["token"]), "/keys", key)
    assert entry == (token["id"], "keys.create", made["id"])
    cookie = cookie_in(await operator_sign_in(system, token["token"]))
    _, entry = await done(system.operators(PAGE | {"Cookie": cookie}), f"/keys/{made['id']}/revoke")
    assert entry == (token["id"], "keys.revoke", made["id"])
    assert made["key"] not in str(await system.operator.get("/audit", since=since, limit=200))


async def test_a_write_without_an_id_of_its_own_gets_one(system: System) -> None:
    """The entry has the request id from the response's header."""
    since = now().isoformat()
    made = await system.operator.post("/keys", {"studio": system.studio_id, "name": "p", "scopes": ["all"]})
    assert len(await entries_of(system, made.headers["X-Request-Id"], since)) == 1


async def test_a_refused_write_leaves_nothing(system: System) -> None:
    """Neither an invalid body, nor an unknown path, nor a missing token."""
    since, request_id = now().isoformat(), new_id()
    headers = {"X-Request-Id": request_id}
    assert (await system.operator.post("/keys", {}, headers=headers)).status == 422
    assert (await system.operator.post("/nothing/here", {}, headers=headers)).status == 404
    stranger = headers | {"Authorization": "Bearer wrong"}
    assert (await system.operator.send("POST", "/keys", {}, headers=stranger)).status in (401, 429)
    assert (await system.operator.get("/keys")).status == 200
    assert await entries_of(system, request_id, since) == []


async def test_a_dry_run_leaves_nothing(system: System) -> None:
    """The import itself is the control."""
    since = now().isoformat()
    for dry_run, count in (("true", 0), ("false", 1)):
        headers, raw = {"X-Request-Id": new_id()}, encode(import_lines.class_type())
        query = {"studio": system.studio_id, "dry_run": dry_run}
        assert (await system.operator.post("/import", raw=raw, headers=headers, **query)).status == 200
        assert len(await entries_of(system, headers["X-Request-Id"], since)) == count


async def test_a_client_may_be_called_anything(system: System) -> None:
    """A name in a path is never taken for a word of it: each write has its entry."""
    since = now().isoformat()
    for name in ("evaluate", "preview", "import", "advance", "requeue", "openapi.json", "ヨガ"):
        headers, path = {"X-Request-Id": new_id()}, f"/clients/{quote(name)}"
        await system.key(client=name)
        assert (await system.operator.patch(path, {"rate": 60}, headers=headers)).status == 200
        assert (await system.operator.post(f"{path}/console-sessions", {}, headers=headers)).status == 201
        found = await entries_of(system, headers["X-Request-Id"], since)
        assert {(entry["action"], entry["target"]) for entry in found} == {
            ("clients.update", name),
            ("clients.console-sessions.create", name),
        }
    assert (await system.operator.get("/audit", cursor=new_id())).code == "invalid_cursor"


async def test_an_import_is_of_the_studio_that_its_lines_are_of(system: System) -> None:
    """With and without `?studio=`, for operators and managers. The lines of several studios are of `all`."""
    since, other = now().isoformat(), await system.new_studio()

    async def target(client: Client, *studios: str, **query: str) -> str:
        request_id = new_id()
        raw = b"\n".join(encode(import_lines.class_type(studio_id=studio)) for studio in studios)
        report = await client.post("/import", raw=raw, headers={"X-Request-Id": request_id}, **query)
        assert report.status == 200, report.body
        (entry,) = await entries_of(system, request_id, since)
        return str(entry["target"])

    mine = system.studio_id
    manager = system.staff((await system.staff_token("manager"))["token"])
    assert await target(system.operator, mine) == mine
    assert await target(system.operator, mine, studio=mine) == mine
    assert await target(system.operator, mine, other) == "all"
    assert await target(manager, mine) == mine
    assert await target(manager, other) == mine, "nothing of the other studio was imported"


def test_every_write_has_its_sentence() -> None:
    """And no sentence is of an action that does not exist."""
    written = [route for route in operator_handlers(cast("Any", None)) if route.is_write]
    assert {action_of(route) for route in written} == set(SENTENCES)


async def test_an_entry_reads_as_a_sentence_with_names(system: System) -> None:
    """Whoever did it, to whom, in which studio. An erased person has no name in it any more."""
    studio = f"/studios/{system.studio_id}"
    token = (await system.operator.post(f"{studio}/staff-tokens", {"name": "Mara", "role": "manager"})).json()
    mara = system.staff(token["token"])
    class_ = import_lines.class_(title="Power Yoga", capacity=5, credit_cost=0)
    await system.import_lines([class_])
    new = {"first_name": "Ada", "last_name": "King", "email": f"{new_id()}@example.com"}
    booking = (await mara.post(f"{studio}/bookings", {"class_id": class_["id"], "member": new})).json()
    await mara.post(f"{studio}/bookings/{booking['id']}/check-in")
    key = (await mara.post("/keys", {"studio": system.studio_id, "name": "Web", "scopes": ["all"]})).json()

    async def newest(client: Client, **query: Any) -> list[dict[str, Any]]:
        return list((await client.get("/audit", order="desc", limit=3, **query)).json()["data"])

    issued, checked, booked = await newest(mara)
    assert [entry["sentence"] for entry in (issued, checked, booked)] == [
        "Mara issued the key Web · Web",
        "Mara checked in Ada King · Power Yoga",
        "Mara booked Ada King · Power Yoga",
    ]
    assert (checked["actor"], checked["actor_name"], checked["actor_role"]) == (
        token["id"],
        "Mara",
        "manager",
    )
    assert (checked["target"], checked["studio_id"]) == (booking["id"], system.studio_id)
    assert await newest(mara, action="keys.create") == [issued]
    assert await newest(mara, target=booking["id"]) == [checked, booked]
    assert await newest(system.operator, actor=token["id"], studio=system.studio_id) == [
        issued,
        checked,
        booked,
    ]
    await system.operator.post(f"/keys/{key['id']}/revoke")
    revoked, *_ = await newest(mara)
    assert revoked["sentence"] == "Operator revoked the key Web · Web"
    await system.operator.post(f"/members/{booking['member_id']}/erase", studio=system.studio_id)
    erased, *_ = await newest(mara)
    assert erased["sentence"] == "Operator erased Erased"
    assert "Ada King" not in str(await newest(mara, target=booking["id"]))


async def test_a_manager_sees_the_own_studios_entries_only(system: System) -> None:
    """Staff see none at all, and another studio does not exist."""
    other = await system.new_studio()
    tokens = {}
    for role in ("staff", "manager"):
        body = {"name": role, "role": role}
        tokens[role] = (await system.operator.post(f"/studios/{other}/staff-tokens", body)).json()["token"]
    assert (await system.staff(tokens["staff"]).get("/audit")).status == 403
    manager = system.staff(tokens["manager"])
    seen = (await manager.get("/audit", limit=200)).json()["data"]
    assert {entry["action"] for entry in seen} == {"staff-tokens.create"}
    assert {entry["studio_id"] for entry in seen} == {other}
    assert (await manager.get("/audit", studio=system.studio_id)).status == 404
