"""Errors at the edge: one shape, the documented code, nothing leaked, and one spelling of each path."""

import json

import pytest

from shared.routing import PartnerRoute
from shared.wire import new_id
from tests.harness.http import Client
from tests.harness.system import System


async def test_unknown_paths_and_methods_are_told_apart(partner: Client) -> None:
    """404 for an unknown path, 405 with Allow for a path with another method.

    The gateway finds the route that the owner will find: `preview` is a word, however it is spelled.
    """
    for path in ("/nothing", "/rooms/", f"/rooms/{new_id()}/more", ""):
        assert (await partner.get(path)).code == "not_found"
    for path, allowed in (("/rooms", "GET"), ("/bookings/preview", "POST"), ("/bookings/%70review", "POST")):
        response = await partner.delete(path, headers={"Idempotency-Key": new_id()})
        told = (response.status, response.code, response.headers["Allow"])
        assert told == (405, "method_not_allowed", allowed), path
    assert (await partner.post("/bookings/%70review", {})).status == 422


async def test_every_answer_carries_request_id_and_version(partner: Client) -> None:
    """The caller's own request id if it is valid, otherwise a new one, also in the body."""
    kept = await partner.get("/nothing", headers={"X-Request-Id": "my-request.1"})
    assert kept.headers["X-Request-Id"] == "my-request.1"
    assert kept.json()["error"]["request_id"] == "my-request.1"
    for insane in ("two words", "x" * 129, "é"):
        made = await partner.get("/studio", headers={"X-Request-Id": insane})
        assert made.status == 200
        assert len(made.headers["X-Request-Id"]) == 36
    assert kept.headers["X-API-Version"] == "2026-08-02"


async def test_an_unserved_version_is_refused(partner: Client) -> None:
    """X-API-Version is optional; another version is 400 and lists the supported ones."""
    assert (await partner.get("/studio", headers={"X-API-Version": "2026-08-02"})).status == 200
    response = await partner.get("/studio", headers={"X-API-Version": "2020-01-01"})
    assert (response.status, response.code) == (400, "unsupported_api_version")
    assert response.json()["error"]["details"] == {"supported": ["2026-08-02"]}


@pytest.mark.parametrize(
    ("raw", "type_"),
    [
        (b'{"email": ', "json_invalid"),
        (b"\xff\xfe", "json_invalid"),
        (b'{"email": "\\ud800@x.com"}', "value_error"),
        (b"[" * 100_000, "json_invalid"),
        (b'{"email": "a\\u0000@example.com"}', "value_error"),
        (b'{"email": "a@example.com", "metadata": {"a\\u0000": 1}}', "value_error"),
        (b'"text"', "object_type"),
        (b"", "missing"),
        (b'{"email": "a@example.com", "emial": "b"}', "extra_forbidden"),
        (b"{}", "missing"),
        (b'{"email": "a@example.com", "emial": "\xff"}', "json_invalid"),
    ],
)
async def test_a_bad_body_is_422_and_says_where(partner: Client, raw: bytes, type_: str) -> None:
    """Malformed JSON, NUL, lone surrogates, unknown and missing fields: 422, never 500."""
    response = await partner.post("/leads", raw=raw)
    body = response.json()
    assert (response.status, body["error"]["code"]) == (422, "validation_failed"), response.body
    assert body["detail"][0]["loc"][0] == "body"
    assert body["detail"][0]["type"] == type_
    assert set(body["error"]) == {"type", "code", "message", "param", "details", "request_id"}


async def test_a_body_has_a_size_and_a_kind(partner: Client) -> None:
    """At most 256 KiB, and only JSON."""
    big = json.dumps({"email": "a@example.com", "first_name": "x" * 262_144}).encode()
    response = await partner.post("/leads", raw=big)
    assert (response.status, response.code) == (413, "body_too_large")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        response = await partner.post("/leads", raw=b"email=a", headers={"Content-Type": kind})
        assert (response.status, response.code) == (415, "unsupported_media_type")


async def test_a_malformed_path_id_is_422_at_its_name(partner: Client) -> None:
    """Ids are uuids; anything else is reported at ["path", name]."""
    for bad in ("1", "not-a-uuid", "0" * 32, "%00"):
        response = await partner.get(f"/rooms/{bad}")
        assert response.status == 422, response.body
        assert response.json()["detail"][0]["loc"] == ["path", "room_id"]


async def test_query_values_are_not_read_loosely(partner: Client) -> None:
    """An invalid filter is reported, never silently ignored. A limit is 1 to 200."""
    limits = [("limit", text) for text in ("0", "201", "ten", "1.5", "", "1.0", "1e1", "null")]
    for name, text in (*limits, ("starts_after", "null"), ("starts_after", "1700000000")):
        response = await partner.get(f"/classes?{name}={text}")
        assert response.status == 422, (name, text)
        assert response.json()["detail"][0]["loc"] == ["query", name]


async def test_a_cursor_that_no_list_gave_out_is_400(partner: Client) -> None:
    """Not a UUID, or not a row of this studio's list. It comes before the 404 of an unknown location."""
    for path, query in (
        *(("/rooms", {"cursor": cursor}) for cursor in ("x", "", new_id())),
        *((path, {"cursor": "bad", "location_id": new_id()}) for path in ("/rooms", "/classes")),
    ):
        response = await partner.get(path, **query)
        assert (response.status, response.code) == (400, "invalid_cursor"), (path, query)


async def test_internal_headers_and_routes_are_out_of_reach(system: System, partner: Client) -> None:
    """A caller's internal headers are dropped; /internal, /staff and /metrics do not exist."""
    assert (await system.site.get("/metrics")).status == 404
    forged = {"X-Studio-Caller": "forged"}
    assert (await partner.get("/studio", headers=forged)).status == 200
    for path in ("/internal/import", "/staff/classes", "/../internal/import", "/health/ready"):
        assert (await partner.post(path, {})).code == "not_found"


def test_a_route_without_a_scope_does_not_construct() -> None:
    """A new route must declare its scope."""
    with pytest.raises(ValueError, match="names no known scope"):
        PartnerRoute("GET", "/new", "", "catalog")


@pytest.mark.parametrize(
    "path",
    [
        "//console/session",
        "/console//session",
        "/console%2Fsession",
        "/console/session/",
        "/%63onsole/session",
        "//health/live",
        "/health/live/",
    ],
)
async def test_a_public_path_has_one_spelling(system: System, path: str) -> None:
    """On both ports, which take nothing for what it is not."""
    for url in (system.running.partner_url, system.running.operator_url):
        response = await system.client(url, {}).send("POST", path, {"token": "x"})
        assert (response.status, response.code) == (404, "not_found")
