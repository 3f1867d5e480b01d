"""The audit log: every write by operators and staff, and nothing else.

`test_path_spellings.py` compares actor, action and target of every write with what was sent.
"""

from typing import Any, cast
from urllib.parse import quote

from services.gateway.actions.read_audit import SENTENCES
from services.gateway.routes.operator.audit_trail import action_of, target_of
from services.gateway.routes.operator.port import operator_handlers
from shared.routing import STAFF_ROUTES, OperatorRoute
from shared.wire import encode, new_id, now
from tests.harness import import_lines
from tests.harness.http import Client
from tests.harness.system import System


def test_a_target_holds_no_control_character() -> None:
    """A terminal would act on them."""
    route = OperatorRoute("PATCH", "/clients/{client}")
    assert target_of(route, {"client": "a\x00\x1b[31mb"}, b"", "") == "a[31mb"


def test_every_route_but_a_read_is_audited() -> None:
    """A POST that only evaluates is a read too."""
    unaudited = {route.path for route in STAFF_ROUTES if route.method != "GET" and not route.is_write}
    assert unaudited == {"/studios/{studio}/forms/{form_id}/evaluate"}
    assert not any(route.is_write for route in STAFF_ROUTES if route.method == "GET")


async def entries_of(system: System, request_id: str, since: str) -> list[dict[str, Any]]:
    entries = await system.operator.everything("/audit", since=since, limit=200)
    return [entry for entry in entries if entry["request_id"] == request_id]


async def test_a_refused_write_leaves_nothing(system: System) -> None:
    """Neither an invalid body, nor an unknown path, nor a missing token."""
    since, headers = now().isoformat(), {"X-Request-Id": new_id()}
    stranger = headers | {"Authorization": "Bearer wrong"}
    for path, body, sent, statuses in (
        ("/keys", {}, headers, (422,)),
        ("/sequences/advance", {"by": 999_999}, headers, (422,)),
        ("/nothing/here", {}, headers, (404,)),
        ("/keys", {}, stranger, (401, 429)),
    ):
        assert (await system.operator.post(path, body, headers=sent)).status in statuses, path
    assert await entries_of(system, headers["X-Request-Id"], since) == []


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
    made = await mara.post("/keys", {"studio": system.studio_id, "name": "Web", "scopes": ["all"]})
    key = made.json()

    async def newest(client: Client, **query: Any) -> list[dict[str, Any]]:
        return list((await client.get("/audit", order="desc", limit=3, **query)).json()["data"])

    issued, checked, booked = await newest(mara)
    assert [entry["sentence"] for entry in (issued, checked, booked)] == [
        "Mara issued the key Web · Web",
        "Mara checked in Ada King · Power Yoga",
        "Mara booked Ada King · Power Yoga",
    ]
    assert [checked[f"actor{part}"] for part in ("", "_name", "_role")] == [token["id"], "Mara", "manager"]
    assert (checked["target"], checked["studio_id"]) == (booking["id"], system.studio_id)
    assert (issued["target"], issued["request_id"]) == (key["id"], made.headers["X-Request-Id"])
    assert key["key"] not in str(issued)
    assert await newest(mara, action="keys.create") == [issued]
    assert await newest(mara, target=booking["id"]) == [checked, booked]
    by_mara = await newest(system.operator, actor=token["id"], studio=system.studio_id)
    assert by_mara == [issued, checked, booked]
    await system.operator.post(f"/keys/{key['id']}/revoke")
    revoked, *_ = await newest(mara)
    assert revoked["sentence"] == "Operator revoked the key Web · Web"
    await system.operator.post(f"/members/{booking['member_id']}/erase", studio=system.studio_id)
    erased, *_ = await newest(mara)
    assert erased["sentence"] == "Operator erased Erased"
    assert "Ada King" not in str(await newest(mara, target=booking["id"]))


async def test_a_manager_sees_the_own_studios_entries_only(system: System) -> None:
    """Another studio does not exist."""
    other = await system.new_studio()
    manager = system.staff((await system.staff_token("manager", other))["token"])
    seen = (await manager.get("/audit", limit=200)).json()["data"]
    assert {entry["action"] for entry in seen} == {"staff-tokens.create"}
    assert {entry["studio_id"] for entry in seen} == {other}
    assert (await manager.get("/audit", studio=system.studio_id)).status == 404
