"""Every row of the routing table, requested by every kind of caller that must not have access.

The cases come from the table, so a new route is included automatically. A new parameter needs a real id: see
`demo_ids_in`.
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
from tests.services.gateway.demo_ids import call, demo_ids_in

# These belong to the client that created them; another client of the same studio cannot see them.
OF_ONE_CLIENT = {"endpoint_id", "recovery_id", "delivery_id"}
# These belong to a location, their own or their class's, whether or not their answers name it.
AT_A_LOCATION = {"location_id", "room_id", "class_id", "booking_id", "waitlist_id"}
READS = {route.path: route for route in ROUTES if route.method == "GET"}


class Callers(Struct):
    """By name a key, and a session of it. Created once, because all tests share the system."""

    elsewhere: str  # the location that some of them are limited to
    keys: dict[str, str]
    sessions: dict[str, dict[str, str]]

    def of(self, system: System, name: str) -> tuple[Client, Client]:
        return system.partner(self.keys[name]), with_session(system, self.sessions[name])


_callers: list[Callers] = []


async def callers_in(system: System) -> Callers:
    if not _callers:
        _callers.append(await _made(system))
    return _callers[0]


async def _made(system: System) -> Callers:
    place = next(line for line in demo_lines(date(2030, 1, 7)) if line["object"] == "location")
    elsewhere = dict(place) | {"id": new_id(), "name": "Elsewhere", "is_primary": False}
    await system.import_lines([elsewhere], STUDIO_ID)
    wanted: dict[str, dict[str, Any]] = {
        "owner": {"client": "test"},
        "another studio": {"studio": system.studio_id},
        "another location": {"client": "test", "location_ids": [elsewhere["id"]]},
        "another client": {"client": "somebody else"},
        "expired": {"client": "expired"},
        "revoked": {"client": "revoked"},
    }
    issued = {name: await system.issue(**({"studio": STUDIO_ID} | one)) for name, one in wanted.items()}
    keys = {name: str(key["key"]) for name, key in issued.items()}
    sessions = {name: await session_of(system, key) for name, key in keys.items()}
    for scope in SCOPES:
        others = [one for one in SCOPES if one != scope]
        keys[f"without {scope}"] = await system.key(others, studio=STUDIO_ID)
        sessions[f"without {scope}"] = await session_of(system, keys["owner"], scopes=others)
    signed_out = await system.site.send("DELETE", "/console/session", headers=sessions["expired"])
    assert signed_out.status == 204
    await system.operator.create(f"/keys/{issued['expired']['id']}/rotate", {"overlap": 0})
    assert (await system.operator.post(f"/keys/{issued['revoked']['id']}/revoke")).status == 200
    for key in issued.values():
        await system.limit(key)
    return Callers(str(elsewhere["id"]), keys, sessions)


def parameters_of(route: PartnerRoute) -> list[str]:
    return re.findall(r"\{(\w+)\}", route.path)


def places_in(value: Any) -> set[str]:
    """Every location that a response names."""
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
            return await call(system.partner(key), READS[path], ids)
    return None


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_nobody_gets_what_is_not_theirs(system: System, route: PartnerRoute) -> None:
    """Foreign studio, location and client, a missing scope, a dead or a missing key; as sessions too."""
    ids, callers = await demo_ids_in(system), await callers_in(system)
    await check_dead_keys(system, route, ids, callers)
    if route.scope == ANY_KEY:
        return
    others = sorted(scope for scope in SCOPES if scope != route.scope)
    for client in callers.of(system, f"without {route.scope}"):
        refused = await call(client, route, ids)
        assert (refused.status, refused.code) == (403, "insufficient_scope")
        details = refused.json()["error"]["details"]
        assert details == {"required_scope": route.scope, "granted_scopes": others}
    if not (names := set(parameters_of(route))):
        if route.method == "GET":
            await check_list(system, route, callers)
        return
    strangers = {"another studio": names, "another client": names & OF_ONE_CLIENT}
    strangers["another location"] = names & AT_A_LOCATION
    for stranger, hidden in strangers.items():
        for client in callers.of(system, stranger) if hidden else ():
            refused = await call(client, route, ids)
            assert (refused.status, refused.code) == (404, "not_found"), (stranger, refused.body)
    await check_location(system, route, ids, callers)


async def check_dead_keys(system: System, route: PartnerRoute, ids: dict[str, str], callers: Callers) -> None:
    """Uses a separate address for each route, because refusals are limited per address."""
    source = f"127.2.0.{ROUTES.index(route) + 1}"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=(source, 0))) as session:
        here = System(system.running, session)
        for name in ("expired", "revoked"):
            by_key, by_session = callers.of(here, name)
            for client, code in ((by_key, f"api_key_{name}"), (by_session, "console_session_ended")):
                refused = await call(client, route, ids)
                assert (refused.status, refused.code) == (401, code)
        missing = await call(here.anyone, route, ids)
        assert (missing.status, missing.code) == (401, "missing_api_key")
        assert "X-Service-Key" in missing.headers["WWW-Authenticate"]


async def check_location(system: System, route: PartnerRoute, ids: dict[str, str], callers: Callers) -> None:
    """What belongs to one location does not exist for a key of another, in reads and writes."""
    seen = await read_of(system, callers.keys["owner"], route, ids)
    if seen is None or seen.status != 200:
        return
    hidden = await read_of(system, callers.keys["another location"], route, ids)
    assert hidden is not None
    foreign = places_in(seen.json()) - {callers.elsewhere}
    if foreign:
        assert hidden.status == 404 or places_in(hidden.json()) <= {callers.elsewhere}, hidden.body
    if hidden.status == 404:
        limited = await call(system.partner(callers.keys["another location"]), route, ids)
        assert limited.status == 404, limited.body


async def check_list(system: System, route: PartnerRoute, callers: Callers) -> None:
    """A list contains nothing of other studios, locations or clients."""
    if route.path == "/event-types":
        return  # the same for everybody
    mine = await system.partner(callers.keys["owner"]).get(route.path, limit=200)
    assert mine.status in (200, 422), mine.body
    if mine.status != 200 or "data" not in mine.json():
        return

    async def listed(name: str) -> list[Any]:
        page = await system.partner(callers.keys[name]).get(route.path, limit=200)
        return list(page.json()["data"])

    own = {row["id"] for row in mine.json()["data"]}
    for name in ("another studio", *(["another client"] if route.path == "/webhook-endpoints" else [])):
        assert not own & {row["id"] for row in await listed(name)}, name
    limited = await listed("another location")
    assert places_in(limited) <= {callers.elsewhere}
    assert not [row for row in limited if row.get("class_id")], "there is no class at that location"
