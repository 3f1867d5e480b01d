"""The audit log: every write by operators and staff, and nothing else."""

from typing import Any

import pytest

from services.gateway.rules.audit_action import action_and_target, is_write
from shared.wire import new_id, now
from tests.harness.console import PAGE, cookie_in, operator_sign_in
from tests.harness.system import System

ID = "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55"


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "studios", ("studios.create", "")),
        ("POST", "keys", ("keys.create", "")),
        ("POST", f"keys/{ID}/revoke", ("keys.revoke", ID)),
        ("PATCH", "clients/Partner Inc", ("clients.update", "Partner Inc")),
        ("POST", "clients/p/console-sessions", ("clients.console-sessions.create", "p")),
        ("POST", "studios/mine/classes", ("classes.create", "mine")),
        ("POST", f"studios/mine/classes/{ID}/cancel", ("classes.cancel", ID)),
        ("PATCH", f"studios/mine/classes/{ID}", ("classes.update", ID)),
        ("POST", f"studios/mine/bookings/{ID}/check-in", ("bookings.check-in", ID)),
        ("POST", f"studios/m/forms/x/submissions/{ID}/review", ("forms.submissions.review", ID)),
        ("POST", "queues/webhooks.events/parked/requeue", ("queues.parked.requeue", "webhooks.events")),
        ("POST", "sequences/advance", ("sequences.advance", "")),
        ("POST", "import", ("import", "")),
        ("POST", "keys/a\x00\x1b[31mb/revoke", ("keys.revoke", "a[31mb")),
    ],
    ids=lambda value: str(value).replace("\x00", "").replace("\x1b", "") if isinstance(value, str) else "",
)
def test_an_action_is_named_after_its_path(method: str, path: str, expected: tuple[str, str]) -> None:
    """The noun and the verb, and the last id in the path."""
    assert action_and_target(method, f"/operator/v1/{path}") == expected


def test_an_import_is_of_the_studio_that_the_query_names() -> None:
    """Its path has no id."""
    assert action_and_target("POST", "/operator/v1/import", b"first_line=1&studio=mine") == ("import", "mine")


def test_reading_is_no_write() -> None:
    """A POST that only evaluates is a read too."""
    assert not is_write("GET", "/operator/v1/keys")
    assert not is_write("POST", "/console/session")
    assert not is_write("POST", f"/operator/v1/studios/mine/forms/{ID}/evaluate")
    assert is_write("DELETE", "/operator/v1/anything")


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
    since, first, second, third = now().isoformat(), new_id(), new_id(), new_id()
    path = f"/studios/{system.studio_id}/staff-tokens"
    body = {"name": "Desk", "role": "manager"}
    issued = await system.operator.post(path, body, headers={"X-Request-Id": first})
    token = issued.json()
    (entry,) = await entries_of(system, first, since)
    assert set(entry) == {"id", "object", "at", "actor", "action", "target", "request_id"}
    assert (entry["actor"], entry["action"], entry["target"]) == (
        "operator",
        "staff-tokens.create",
        token["id"],
    )
    base = f"{system.running.operator_url}/operator/v1"
    staff = system.client(base, {"Authorization": f"Bearer {token['token']}", "X-Request-Id": second})
    key = {"studio": system.studio_id, "name": "p", "scopes": ["studio:read"]}
    made = (await staff.post("/keys", key)).json()
    (entry,) = await entries_of(system, second, since)
    assert (entry["actor"], entry["action"], entry["target"]) == (token["id"], "keys.create", made["id"])
    cookie = cookie_in(await operator_sign_in(system, token["token"]))
    session = system.client(base, PAGE | {"Cookie": cookie, "X-Request-Id": third})
    assert (await session.post(f"/keys/{made['id']}/revoke")).status == 200
    (entry,) = await entries_of(system, third, since)
    assert (entry["actor"], entry["action"], entry["target"]) == (token["id"], "keys.revoke", made["id"])
    assert made["key"] not in str(await system.operator.get("/audit", since=since, limit=200))


async def test_a_write_without_an_id_of_its_own_gets_one(system: System) -> None:
    """The entry has the request id from the answer's header."""
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


async def test_only_an_operator_reads_the_audit_log(system: System) -> None:
    """A manager's token is for one studio; the log is for all."""
    path = f"/studios/{system.studio_id}/staff-tokens"
    token = (await system.operator.post(path, {"name": "M", "role": "manager"})).json()["token"]
    base = f"{system.running.operator_url}/operator/v1"
    refused = await system.client(base, {"Authorization": f"Bearer {token}"}).get("/audit")
    assert (refused.status, refused.code) == (403, "insufficient_role")
    assert (await system.operator.get("/audit", cursor=new_id())).code == "invalid_cursor"
