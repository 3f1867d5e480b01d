"""Every row of the routing table, requested by every kind of caller that must not have access.

The cases come from the table, so a new route is included automatically. A new parameter needs a real id: see
`other_studios_ids`.
"""

import re
from datetime import date
from typing import Any

import aiohttp
import pytest
from msgspec import Struct

from services.cli.demo import STUDIO_ID, demo_lines
from shared.routing import ANY_KEY, ROUTES, SCOPES, PartnerRoute
from shared.wire import new_id
from tests.harness.console import session_of, with_session
from tests.harness.http import Client, Reply
from tests.harness.system import System
from tests.services.gateway.test_other_studios import call, other_studios_ids

# These belong to the client that created them; another client of the same studio cannot see them.
OF_ONE_CLIENT = ("endpoint_id", "recovery_id", "delivery_id")
# These belong to a location, their own or their class's, whether or not their answers name it.
AT_A_LOCATION = ("location_id", "room_id", "class_id", "booking_id", "waitlist_id")
READS = {route.path: route for route in ROUTES if route.method == "GET"}


class Keys(Struct):
    """One of each, created once, because all tests share the system."""

    owner: str
    elsewhere: str  # its location
    of_another_studio: str
    of_another_location: str
    of_another_client: str
    expired: str
    revoked: str
    without: dict[str, str]  # by the scope that it lacks
    # Console sessions: the headers of a page that was signed in.
    session_of_another_studio: dict[str, str]
    session_of_another_location: dict[str, str]
    session_of_another_client: dict[str, str]
    session_without: dict[str, dict[str, str]]  # by the scope that it lacks, of a key that has them all
    session_ended: dict[str, str]
    session_of_revoked_key: dict[str, str]


_keys: list[Keys] = []


async def keys_of(system: System) -> Keys:
    if not _keys:
        _keys.append(await _made(system))
    return _keys[0]


async def _made(system: System) -> Keys:
    place = next(line for line in demo_lines(date(2030, 1, 7)) if line["object"] == "location")
    elsewhere = dict(place) | {"id": new_id(), "name": "Elsewhere", "is_primary": False}
    await system.import_lines([elsewhere], STUDIO_ID)
    issued = {
        "owner": await system.issue(studio=STUDIO_ID, client="test"),
        "of_another_studio": await system.issue(),
        "of_another_location": await system.issue(
            studio=STUDIO_ID, client="test", location_ids=[elsewhere["id"]]
        ),
        "of_another_client": await system.issue(studio=STUDIO_ID, client="somebody else"),
        "expired": await system.issue(studio=STUDIO_ID, client="expired"),
        "revoked": await system.issue(studio=STUDIO_ID, client="revoked"),
    }
    without = {
        scope: await system.issue(*(one for one in SCOPES if one != scope), studio=STUDIO_ID, client="test")
        for scope in SCOPES
    }
    sessions = {name: await session_of(system, key["key"]) for name, key in issued.items()}
    ended = await session_of(system, issued["owner"]["key"])
    assert (await system.site.send("DELETE", "/console/session", headers=ended)).status == 204
    session_without = {
        scope: await session_of(
            system, issued["owner"]["key"], scopes=[one for one in SCOPES if one != scope]
        )
        for scope in SCOPES
    }
    rotated = await system.operator.post(f"/keys/{issued['expired']['id']}/rotate", {"overlap": 0})
    assert rotated.status == 201, rotated.body
    assert (await system.operator.post(f"/keys/{issued['revoked']['id']}/revoke")).status == 200
    for key in issued.values():
        limits = {"rate": 10_000, "burst": 10_000}
        assert (await system.operator.patch(f"/clients/{key['client_id']}", limits)).status == 200
    return Keys(
        elsewhere=str(elsewhere["id"]),
        without={scope: key["key"] for scope, key in without.items()},
        **{name: key["key"] for name, key in issued.items()},
        session_of_another_studio=sessions["of_another_studio"],
        session_of_another_location=sessions["of_another_location"],
        session_of_another_client=sessions["of_another_client"],
        session_without=session_without,
        session_ended=ended,
        session_of_revoked_key=sessions["revoked"],
    )


def parameters_of(route: PartnerRoute) -> list[str]:
    return re.findall(r"\{(\w+)\}", route.path)


def places_in(value: Any) -> set[str]:
    """Every location that an answer names."""
    if isinstance(value, list):
        return {place for item in value for place in places_in(item)}
    if not isinstance(value, dict):
        return set()
    found = {place for inner in value.values() for place in places_in(inner)}
    if isinstance(place := value.get("location_id"), str):
        found.add(place)
    if value.get("object") == "location":
        found.add(value["id"])
    return found


async def read_of(system: System, key: str, route: PartnerRoute, ids: dict[str, str]) -> Reply | None:
    """The GET answer for the resource of this route, or None if the table has no such route."""
    parts = route.path.split("/")
    for end in range(len(parts), 1, -1):
        path = "/".join(parts[:end])
        if path in READS and parameters_of(READS[path]):
            reply: Reply = await call(system.partner(key), READS[path], ids)
            return reply
    return None


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_nobody_gets_what_is_not_theirs(system: System, route: PartnerRoute) -> None:
    """Foreign studio, location and client, a missing scope, an expired and a revoked key; as sessions too."""
    ids = (await other_studios_ids(system)) | {"key": new_id()}
    keys = await keys_of(system)

    async def ask(key: str) -> Reply:
        reply: Reply = await call(system.partner(key), route, ids)
        return reply

    async def ask_in_session(headers: dict[str, str]) -> Reply:
        reply: Reply = await call(with_session(system, headers), route, ids)
        return reply

    await check_dead_keys(system, route, ids, keys)
    if route.scope == ANY_KEY:
        return
    refused = await ask(keys.without[route.scope])
    assert (refused.status, refused.code) == (403, "insufficient_scope")

    refused = await ask_in_session(keys.session_without[route.scope])
    assert (refused.status, refused.code) == (403, "insufficient_scope")

    if parameters_of(route):
        assert (await ask(keys.of_another_studio)).status == 404
        assert (await ask_in_session(keys.session_of_another_studio)).status == 404
        if any(name in OF_ONE_CLIENT for name in parameters_of(route)):
            assert (await ask(keys.of_another_client)).status == 404
            assert (await ask_in_session(keys.session_of_another_client)).status == 404
        if any(name in AT_A_LOCATION for name in parameters_of(route)):
            assert (await ask(keys.of_another_location)).status == 404
            assert (await ask_in_session(keys.session_of_another_location)).status == 404
        await check_location(system, route, ids, keys)
    elif route.method == "GET":
        await check_list(system, route, keys)


async def check_dead_keys(system: System, route: PartnerRoute, ids: dict[str, str], keys: Keys) -> None:
    """Uses a separate address for each route, because refusals are limited per address."""
    source = f"127.2.0.{ROUTES.index(route) + 1}"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=(source, 0))) as session:
        for key, code in ((keys.expired, "api_key_expired"), (keys.revoked, "api_key_revoked")):
            client = Client(session, f"{system.running.partner_url}/partner/v1", {"X-Service-Key": key})
            refused = await call(client, route, ids)
            assert (refused.status, refused.code) == (401, code)
        for headers in (keys.session_ended, keys.session_of_revoked_key):
            client = Client(session, f"{system.running.partner_url}/partner/v1", headers)
            refused = await call(client, route, ids)
            assert (refused.status, refused.code) == (401, "console_session_ended")


async def check_location(system: System, route: PartnerRoute, ids: dict[str, str], keys: Keys) -> None:
    """What belongs to one location does not exist for a key of another, in reads and writes."""
    seen = await read_of(system, keys.owner, route, ids)
    if seen is None or seen.status != 200:
        return
    hidden = await read_of(system, keys.of_another_location, route, ids)
    assert hidden is not None
    foreign = places_in(seen.json()) - {keys.elsewhere}
    if foreign:
        assert hidden.status == 404 or places_in(hidden.json()) <= {keys.elsewhere}, hidden.body
    if hidden.status == 404:
        limited: Reply = await call(system.partner(keys.of_another_location), route, ids)
        assert limited.status == 404, limited.body


async def check_list(system: System, route: PartnerRoute, keys: Keys) -> None:
    """A list contains nothing of other studios, locations or clients."""
    if route.path == "/event-types":
        return  # the same for everybody
    mine = await system.partner(keys.owner).get(route.path, limit=200)
    assert mine.status in (200, 422), mine.body
    if mine.status != 200 or "data" not in mine.json():
        return
    own = {row["id"] for row in mine.json()["data"]}
    stranger = (await system.partner(keys.of_another_studio).get(route.path, limit=200)).json()["data"]
    assert not own & {row["id"] for row in stranger}
    limited = (await system.partner(keys.of_another_location).get(route.path, limit=200)).json()["data"]
    assert places_in(limited) <= {keys.elsewhere}
    assert not [row for row in limited if row.get("class_id")], "there is no class at that location"
    if route.path == "/webhook-endpoints":
        other = (await system.partner(keys.of_another_client).get(route.path, limit=200)).json()["data"]
        assert not own & {row["id"] for row in other}
