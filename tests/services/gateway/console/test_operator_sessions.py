"""Sessions of the operators' console: a token is exchanged for a cookie."""

from http.cookies import SimpleCookie

import pytest

from services.gateway.access import OperatorAccess
from services.gateway.rules.key_text import OPERATOR_SESSION_HEAD, make_token
from shared.db.database import Database
from tests.harness.browser import SHARED_LOOP
from tests.harness.console import PAGE, cookie_in, exchange, operator_sign_in, operators_port, token_in
from tests.harness.http import Client
from tests.harness.system import System

pytestmark = SHARED_LOOP


async def signed_in(system: System, token: str) -> Client:
    cookie = cookie_in(await operator_sign_in(system, token))
    return system.operators(PAGE | {"Cookie": cookie})


async def test_the_operator_token_opens_a_session_of_twelve_hours(system: System) -> None:
    """Scripts and other sites cannot use the cookie; the response says whose session it is.

    A copy of the cookie no longer works once its owner has signed out.
    """
    response = await operator_sign_in(system, system.running.operator_token)
    shown = {"object": "operator_session", "expires_at": None, "role": "operator", "studio_id": None}
    assert response.json() | {"expires_at": None} == shown
    (morsel,) = SimpleCookie(response.headers["Set-Cookie"]).values()
    assert (morsel.key, morsel["httponly"], morsel["samesite"]) == ("studio_operator", True, "Strict")
    assert 11 * 3600 < int(morsel["max-age"]) <= 12 * 3600
    headers = PAGE | {"Cookie": cookie_in(response)}
    assert (await system.operators(headers).get("/status")).status == 200
    assert (await operators_port(system).send("DELETE", "/console/session", headers=headers)).status == 204
    assert (await system.operators(headers).get("/studios")).status == 401


async def test_a_staff_tokens_session_has_its_studio_and_role(system: System) -> None:
    """Another studio is 404, routes of a higher role are refused, and the session ends with the token."""
    issued, other = await system.staff_token("staff"), await system.new_studio()
    client = await signed_in(system, issued["token"])
    assert (await client.get(f"/studios/{system.studio_id}/classes")).status == 200
    assert (await client.get(f"/studios/{other}/classes")).status == 404
    for path in ("/keys", "/status"):
        assert (await client.get(path)).code == "insufficient_role"
    assert [row["id"] for row in (await client.get("/studios")).json()["data"]] == [system.studio_id]
    path = f"/studios/{system.studio_id}/staff-tokens/{issued['id']}/revoke"
    assert (await system.operator.post(path)).status == 200
    assert (await client.get("/studios")).status == 401


async def test_the_operators_cookie_counts_only_with_the_pages_header(system: System) -> None:
    """Another site can only send the cookie, which is not enough."""
    cookie = cookie_in(await operator_sign_in(system, system.running.operator_token))
    for headers in ({"Cookie": cookie}, PAGE | {"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}):
        assert (await system.operators(headers).get("/studios")).status == 401
    body = {"token": system.running.operator_token}
    refused = await operators_port(system).post("/console/session", body)
    assert (refused.status, refused.code) == (403, "not_from_the_console")


async def test_a_wrong_token_opens_nothing(system: System) -> None:
    """Neither does a partner's key or a session's own cookie."""
    for text in ("wrong", await system.key(), make_token(OPERATOR_SESSION_HEAD).text, ""):
        refused = await operator_sign_in(system, text)
        assert refused.status == 401 and "Set-Cookie" not in refused.headers


@pytest.mark.asyncio(loop_scope="function")  # that of its database
async def test_a_session_ends_with_the_operator_token(db: Database) -> None:
    """Once a token is no longer configured, its sessions are refused."""
    access = OperatorAccess(("old", "new"), db, ("pepper",))
    text, _ = await access.open("old")
    headers = {b"x-studio-console": b"1", b"cookie": f"studio_operator={text}".encode()}
    assert await access.recognise(headers)
    assert not await OperatorAccess(("new",), db, ("pepper",)).recognise(headers)


async def test_an_operator_makes_a_console_link_for_a_client(system: System) -> None:
    """For its newest live key; a manager only for clients of their own studio."""
    issued = await system.issue("studio:read", client="Partner Inc")
    path = f"/clients/{issued['client_id']}/console-sessions"
    made = await system.operator.create(path, {"expires_in": 300})
    assert (await exchange(system, token_in(made["url"]))).status == 200
    manager = system.staff((await system.staff_token("manager"))["token"])
    assert (await manager.post(path)).status == 201
    foreign = await system.issue(studio=await system.new_studio())
    assert (await manager.post(f"/clients/{foreign['client_id']}/console-sessions")).status == 404
    await system.operator.post(f"/keys/{issued['id']}/revoke")
    assert (await system.operator.post(path)).code == "client_without_key"
