"""The audit log: every write by operators and staff, and nothing else."""

from typing import Any
from urllib.parse import quote

import pytest

from services.gateway.routes.operator.audit_trail import action_of, target_of
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
        assert set(entry) == {"id", "object", "at", "actor", "action", "target", "request_id"}
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
