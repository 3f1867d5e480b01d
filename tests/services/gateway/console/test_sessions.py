"""Console sessions of partners: from a key to a link, a cookie, and their limits."""

import asyncio
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie

import pytest

from services.gateway.actions.open_console import MAX_OPEN_LINKS
from services.gateway.rules.key_text import LINK_HEAD, SESSION_HEAD, make_token
from services.gateway.rules.rate_limit import FailedKeyLimits
from services.gateway.store.old_rows import delete_old_rows
from shared.db.database import Database
from shared.wire import new_id
from tests.harness.browser import SHARED_LOOP
from tests.harness.console import PAGE, cookie_in, exchange, link_for, session_of, with_session
from tests.harness.system import System

pytestmark = SHARED_LOOP


async def test_a_key_becomes_a_link_and_the_link_a_session(system: System) -> None:
    """201 with a url whose token is in the fragment; the session is that client with all the key's scopes.

    They share one bucket.
    """
    issued = await system.issue("studio:read", "webhooks:read", client="Shared bucket")
    body = await system.partner(issued["key"]).create("/console-sessions")
    assert set(body) == {"object", "url", "expires_at"} and body["object"] == "console_session"
    page, _, token = body["url"].partition("#token=")
    assert page == f"{system.running.partner_url}/console" and token.startswith("stc_link_")
    life = datetime.fromisoformat(body["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=50) < life <= timedelta(hours=1)
    cookie = cookie_in(await exchange(system, token))
    await system.limit(issued, rate=0.01, burst=50)
    by_key = await system.partner(issued["key"]).get("/key")
    by_session = await with_session(system, PAGE | {"Cookie": cookie}).get("/key")
    left = [int(reply.headers["RateLimit-Remaining"]) for reply in (by_key, by_session)]
    assert left[1] == left[0] - 1
    own = by_session.json()
    assert (own["id"], own["client_id"]) == (issued["id"], issued["client_id"])
    assert own["scopes"] == ["studio:read", "webhooks:read"]


async def test_a_link_works_once(system: System) -> None:
    """Even for two requests at once; an invalid token or a session's own cookie is refused."""
    token = await link_for(system, await system.key())
    both = await asyncio.gather(*(exchange(system, token) for _ in range(4)))
    assert sorted(reply.status for reply in both) == [200, 401, 401, 401]
    for text in (token, make_token(LINK_HEAD).text, make_token(SESSION_HEAD).text, "stc_link_", ""):
        again = await exchange(system, text)
        assert again.status == 401 and "Set-Cookie" not in again.headers, text


async def test_a_link_ends_with_its_key(system: System) -> None:
    """Though it was made before that was revoked."""
    issued = await system.issue()
    token = await link_for(system, issued["key"])
    assert (await system.operator.post(f"/keys/{issued['id']}/revoke")).status == 200
    assert (await exchange(system, token)).status == 401


async def test_a_real_link_works_at_an_address_that_has_guessed_too_often(system: System) -> None:
    """So does signing out of its session: the limit is for guesses."""
    token = await link_for(system, await system.key())
    guesses = [await exchange(system, make_token(LINK_HEAD).text) for _ in range(FailedKeyLimits.BURST + 5)]
    assert guesses[-1].status == 429
    headers = PAGE | {"Cookie": cookie_in(await exchange(system, token))}
    assert (await with_session(system, headers).get("/key")).status == 200
    gone = await system.site.send("DELETE", "/console/session", headers=headers)
    assert gone.status == 204 and "Max-Age=0" in gone.headers["Set-Cookie"]
    assert (await with_session(system, headers).get("/key")).status in (401, 429)


async def test_the_cookie_is_kept_from_scripts_and_from_other_sites(system: System) -> None:
    """HttpOnly, SameSite=Strict, no longer than the session; Secure everywhere except on loopback."""
    key = await system.key()
    response = await exchange(system, await link_for(system, key, expires_in=300))
    (morsel,) = SimpleCookie(response.headers["Set-Cookie"]).values()
    assert (morsel.key, morsel["path"]) == ("studio_console", "/")
    assert (morsel["httponly"], morsel["samesite"], morsel["secure"]) == (True, "Strict", "")
    assert 200 < int(morsel["max-age"]) <= 300
    assert response.headers["Cache-Control"] == "no-store"
    for public in ({"Origin": "https://api.example.com"}, {"Host": "api.example.com"}):
        elsewhere = await exchange(system, await link_for(system, key), **public)
        assert "; Secure" in elsewhere.headers["Set-Cookie"]


async def test_a_sign_in_is_a_small_json_body(system: System) -> None:
    """Anything else is refused as elsewhere, before it is decoded."""
    for raw, status in ((b"{", 422), (b'{"token": 1}', 422), (b'{"token":"' + b"x" * 5000, 413)):
        sent = await system.site.post("/console/session", raw=raw, headers=PAGE)
        assert sent.status == status, raw[:20]
    plain = PAGE | {"Content-Type": "text/plain"}
    assert (await system.site.post("/console/session", raw=b"{}", headers=plain)).status == 415
    assert (await system.site.get("/console/session")).status == 405


async def test_another_site_can_sign_nobody_in_or_out(system: System) -> None:
    """Both need the page's header, so nobody can be signed in to a stranger's session."""
    key = await system.key()
    token, headers = await link_for(system, key), await session_of(system, key)
    for sent in ({}, {"X-Studio-Console": "0"}):
        refused = await system.site.post("/console/session", {"token": token}, headers=sent)
        assert (refused.status, refused.code) == (403, "not_from_the_console")
    for site in ("cross-site", "same-site"):
        cross = headers | {"Sec-Fetch-Site": site}
        assert (await system.site.send("DELETE", "/console/session", headers=cross)).status == 403
    assert (await with_session(system, headers).get("/key")).status == 200
    assert (await exchange(system, token)).status == 200, "a refused request uses no link up"


async def test_a_session_has_its_scopes_and_no_others(system: System) -> None:
    """A subset of the key's: it cannot have a scope that the key lacks. It lasts five minutes to a day.

    It does not outlive its key, and makes no sessions: one that was stolen does not extend itself.
    """
    issued = await system.issue("studio:read", "schedule:read", "webhooks:read", expires_in=600)
    key = issued["key"]
    made = (await system.partner(key).post("/console-sessions", {"expires_in": 86_400})).json()
    assert made["expires_at"] == issued["expires_at"]
    client = with_session(system, await session_of(system, key, scopes=["webhooks:read"]))
    assert (await client.get("/events")).status == 200
    refused = await client.post("/console-sessions")
    assert (refused.status, refused.code) == (403, "console_session_not_allowed")
    for field, value in (
        *(("scopes", scopes) for scopes in (["members:read"], ["studio:read", "everything"], [])),
        *(("expires_in", seconds) for seconds in (299, 86_401, "3600", None)),
    ):
        refused = await system.partner(key).post("/console-sessions", {field: value})
        assert refused.status == 422, (field, value)
        assert refused.json()["detail"][0]["loc"][:2] == ["body", field]


async def test_a_forged_cookie_is_refused(system: System) -> None:
    """A good checksum with an unknown id, and a real id with another secret."""
    headers = await session_of(system, await system.key())
    real = headers["Cookie"].partition("=")[2]
    forged = make_token(SESSION_HEAD).text
    for text in (forged, real[:31] + forged[31:], real[:-1], ""):
        reply = await with_session(system, PAGE | {"Cookie": f"studio_console={text}"}).get("/key")
        assert reply.status == 401, text
    assert (await with_session(system, headers).get("/key")).status == 200


async def test_a_client_has_a_limited_number_of_unused_links(system: System) -> None:
    """One more is 429 until one was used or has expired. Another client is not affected."""
    issued = await system.issue(client="Links")
    await system.limit(issued)
    client = system.partner(issued["key"])
    tokens = [await link_for(system, issued["key"]) for _ in range(MAX_OPEN_LINKS)]
    refused = await client.post("/console-sessions")
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert 500 < int(refused.headers["Retry-After"]) <= 600
    assert (await system.partner(await system.key(client="Other")).post("/console-sessions")).status == 201
    assert (await exchange(system, tokens[0])).status == 200
    assert (await client.post("/console-sessions")).status == 201
    assert (await client.post("/console-sessions")).status == 429


EXPIRED_LINKS = """
INSERT INTO studios (id, name) VALUES ('{id}', 'A');
INSERT INTO clients (studio_id, id, name, rate, burst) VALUES ('{id}', '{id}', 'A', 1, 1);
INSERT INTO keys (id, studio_id, client_id, name, prefix, secret_hash, scopes)
VALUES ('{id}', '{id}', '{id}', 'A', 'a', '', '{{}}');
INSERT INTO console_sessions (studio_id, id, client_id, key_id, scopes, link_expires_at, expires_at)
SELECT '{id}', gen_random_uuid(), '{id}', '{id}', '{{}}', now() - interval '1 s', now() + interval '1 h'
FROM generate_series(1, 12500)
"""


@pytest.mark.asyncio(loop_scope="function")  # that of its database
async def test_expired_links_are_deleted_as_fast_as_they_come(db: Database) -> None:
    """A step of the loop deletes a batch, and says that there is more."""
    async with db.connection() as conn:
        await conn.execute(EXPIRED_LINKS.format(id=new_id()))
        steps = 1
        while await delete_old_rows(conn):
            steps += 1
        assert await conn.fetchval("SELECT count(*) FROM console_sessions") == 0
    assert steps == 3
