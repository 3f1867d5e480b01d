"""Keys: their format, their lifetime, and what `GET /key` shows."""

import asyncio
import time
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from services.gateway.rules.key_text import KEY_HEADS, LENGTH, make_key, parse
from shared.wire import new_id
from tests.harness.console import system_from_own_address
from tests.harness.system import System


@given(st.integers(0, LENGTH - 1), st.characters(codec="utf-8"))
def test_a_key_with_one_wrong_letter_is_refused_without_a_look_up(place: int, letter: str) -> None:
    """The checksum finds a mistyped letter anywhere in the text."""
    text = make_key(test=False).text
    mistyped = text[:place] + letter + text[place + 1 :]
    assert mistyped == text or parse(mistyped, *KEY_HEADS) is None


async def test_a_key_tells_about_itself_and_never_its_secret(system: System) -> None:
    """GET /key shows id, name, studio, scopes, locations, expiry and rate limit.

    Only issuing and rotating return the key itself. Operators see its prefix.
    """
    issued = await system.issue("studio:read", "leads:write", name="Partner", expires_in=3600)
    response = await system.partner(issued["key"]).get("/key")
    assert response.status == 200
    assert response.json() == {
        "id": issued["id"],
        "object": "key",
        "name": "Partner",
        "studio_id": system.studio_id,
        "client_id": issued["client_id"],
        "scopes": ["leads:write", "studio:read"],
        "location_ids": None,
        "expires_at": issued["expires_at"],
        "rate_limit": {"requests_per_second": 50.0, "burst": 200},
    }
    assert issued["key"][-49:].encode() not in response.body
    shown = (await system.operator.get(f"/keys/{issued['id']}")).json()
    listed = (await system.operator.get("/keys", studio=system.studio_id)).json()["data"]
    assert "key" not in shown and listed == [shown]
    assert set(shown) >= {"id", "studio_id", "client_id", "name", "prefix", "scopes", "location_ids"}
    assert issued["key"].startswith(shown["prefix"] + "_")
    of_test_studio = await system.issue(studio=await system.new_studio(test=True))
    assert of_test_studio["key"].startswith("spk_test_")


async def test_a_revoked_key_is_told_so_once_its_secret_matched(system: System) -> None:
    """api_key_revoked within 2 s; a key that does not exist is just invalid."""
    unknown = await system.partner(make_key(test=False).text).get("/key")
    assert (unknown.status, unknown.code) == (401, "invalid_api_key")
    issued = await system.issue()
    client = system.partner(issued["key"])
    assert (await client.get("/key")).status == 200
    revoked = await system.operator.post(f"/keys/{issued['id']}/revoke")
    assert revoked.json()["revoked_at"] is not None
    deadline = time.monotonic() + 2
    while (response := await client.get("/key")).status == 200:
        assert time.monotonic() < deadline, "a revoked key still works after two seconds"
        await asyncio.sleep(0.05)
    assert (response.status, response.code) == (401, "api_key_revoked")


async def test_a_leaked_key_is_revoked_together_with_its_endpoints(system: System) -> None:
    """Endpoints belong to the client and outlive a key, unless the operator disables those that it made."""
    leaked, other = await system.issue(), await system.issue()
    client = system.partner(other["key"])
    endpoints = {}
    for issued in (leaked, other):
        body = {"url": "https://partner.example/hook"}
        made = await system.partner(issued["key"]).create("/webhook-endpoints", body)
        assert made["key_id"] == issued["id"]
        endpoints[issued["id"]] = made["id"]
    path = f"/keys/{leaked['id']}/revoke"
    assert (await system.operator.post(path)).status == 200
    of_leaked = f"/webhook-endpoints/{endpoints[leaked['id']]}"
    assert (await client.get(of_leaked)).json()["status"] == "enabled"
    for _ in range(2):
        assert (await system.operator.post(path, {"with_endpoints": True})).status == 200
        shown = (await client.get(of_leaked)).json()
        assert (shown["status"], shown["disabled_reason"]) == ("disabled", "key_revoked")
    assert (await client.get(f"/webhook-endpoints/{endpoints[other['id']]}")).json()["status"] == "enabled"


async def test_rotation_gives_the_same_client_a_second_key(system: System) -> None:
    """Same client, scopes and locations; the old key stays valid for the overlap and no longer."""
    old = await system.issue("studio:read", "leads:read", client="Partner Inc")
    new = await system.operator.create(f"/keys/{old['id']}/rotate", {"overlap": 1})
    assert new["key"] != old["key"]
    for field in ("client_id", "scopes", "location_ids", "studio_id", "name"):
        assert new[field] == old[field]
    assert (await system.partner(new["key"]).get("/key")).status == 200
    assert (await system.partner(old["key"]).get("/key")).status == 200
    while (late := await system.partner(old["key"]).get("/key")).status == 200:
        await asyncio.sleep(0.1)
    assert late.code == "api_key_expired"
    again = await system.operator.post(f"/keys/{old['id']}/rotate", {"overlap": 0})
    assert (again.status, again.code) == (409, "key_not_live")


async def test_a_successor_is_made_for_as_long_as_the_key_was(system: System) -> None:
    """An overlap shortens the old key's lifetime, not its successor's."""
    endless = await system.issue()
    await system.operator.post(f"/keys/{endless['id']}/rotate", {"overlap": 3600})
    again = (await system.operator.post(f"/keys/{endless['id']}/rotate", {"overlap": 3600})).json()
    assert again["expires_at"] is None
    brief = await system.issue(expires_in=7200)
    followed = (await system.operator.post(f"/keys/{brief['id']}/rotate", {"overlap": 60})).json()
    life = datetime.fromisoformat(followed["expires_at"]) - datetime.fromisoformat(followed["created_at"])
    assert 7190 < life.total_seconds() < 7210


async def test_what_a_key_cannot_have_is_named_when_it_is_made(system: System) -> None:
    """A misspelt scope, a location that the studio does not have, an overlap of more than seven days."""
    key = {"studio": system.studio_id, "name": "x", "scopes": ["all"]}
    rotate = f"/keys/{(await system.issue())['id']}/rotate"
    for path, body, field in (
        ("/keys", key | {"scopes": ["studio:reed"]}, "scopes"),
        ("/keys", key | {"location_ids": [new_id()]}, "location_ids"),
        (rotate, {"overlap": -1}, "overlap"),
        (rotate, {"overlap": 7 * 86400 + 1}, "overlap"),
    ):
        response = await system.operator.post(path, body)
        (problem,) = response.json()["detail"]
        assert (response.status, problem["loc"][:2]) == (422, ["body", field])
        assert field != "scopes" or "studio:reed" in problem["msg"]


async def test_operators_need_their_token(system: System) -> None:
    """On every kind of route: 401 before 404 and 405, so that nobody learns which paths there are."""
    # Refusals are limited per address.
    async with system_from_own_address(system.running) as own:
        for stranger in (own.operators({}), own.operators({"Authorization": ""}), own.staff("wrong")):
            for method, path in (
                *(("POST", path) for path in ("/import", f"/studios/{system.studio_id}/classes")),
                *((method, "/studios") for method in ("POST", "GET", "DELETE")),
                ("GET", "/nothing"),
            ):
                response = await stranger.send(method, path, {})
                assert (response.status, response.code) == (401, "invalid_operator_token")
