"""Every GET of the routing table: a strong ETag on its 200, 304 for a caller that has that answer."""

import random
import re
from collections.abc import Mapping

import pytest
from msgspec import Struct

from services.cli.demo import STUDIO_ID
from services.cli.openapi.document import document
from shared.http.answer import entity_tag
from shared.routing import ROUTES, PartnerRoute
from shared.wire import new_id
from tests.harness.bookable_studio import bookable
from tests.harness.http import Client, Reply
from tests.harness.raw_http import connect
from tests.harness.system import System
from tests.services.gateway.test_other_studios import call, other_studios_ids

# It tells the present instant, so no answer comes twice.
UNTAGGED = "/bookings/{booking_id}/cancellation-preview"
READS = [route for route in ROUTES if route.method == "GET" and route.path != UNTAGGED]
# Each answer's own, whatever its status.
VARYING = {"content-length", "date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"}
# Deliveries to an endpoint that does not answer are attempted again; each request is soon in the list of
# requests.
CHANGING = ("/webhook-endpoints/{endpoint_id}/deliveries", "/requests")


def lasting(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() not in VARYING}


class Owner(Struct):
    """Created once: a key of the demo studio, and real ids for every parameter."""

    key: str
    ids: dict[str, str]


_owner: list[Owner] = []


async def owner_of_everything(system: System) -> Owner:
    """Among the ids: a booking that can still be cancelled, and the key it was made with."""
    if not _owner:
        ids = await other_studios_ids(system)
        made = bookable()
        await system.import_lines(made.lines, STUDIO_ID)
        body, key = {"class_id": made.class_ids[0], "member_id": made.member_ids[0]}, new_id()
        owner = await system.key(studio=STUDIO_ID, client="test")
        booked = await system.partner(owner).post("/bookings", body, headers={"Idempotency-Key": key})
        assert booked.status == 201, booked.body
        _owner.append(Owner(owner, ids | {"booking_id": booked.json()["id"], "key": key}))
    return _owner[0]


async def ask(client: Client, route: PartnerRoute, ids: Mapping[str, str], tags: str) -> Reply:
    path = re.sub(r"\{(\w+)\}", lambda name: ids[name[1]], route.path)
    return await client.send("GET", path, headers={"If-None-Match": tags})


@pytest.mark.parametrize("route", READS, ids=lambda route: route.path)
async def test_every_get_carries_a_tag_and_answers_304_to_it(system: System, route: PartnerRoute) -> None:
    """The tag depends on the body alone; lists and `*` work too, and the headers are those of the 200."""
    owner = await owner_of_everything(system)
    client, ids = system.partner(owner.key), owner.ids
    full: Reply = await call(client, route, ids)
    assert full.status == 200, full.body
    tag = full.headers["ETag"]
    assert tag.encode() == entity_tag(full.body)
    assert full.headers["Cache-Control"] == "private, no-cache"
    whatever = await ask(client, route, ids, "*")
    assert (whatever.status, whatever.body) == (304, b"")
    short = await ask(client, route, ids, f'"other", {tag}')
    if short.status == 200 and route.path in CHANGING:
        assert short.headers["ETag"] != tag
        return
    assert (short.status, short.body) == (304, b"")
    assert lasting(short.headers) == lasting(full.headers)
    assert "Content-Length" not in short.headers
    assert (await ask(client, route, ids, '"other"')).status == 200


@pytest.mark.parametrize("route", [row for row in READS if "_id}" in row.path], ids=lambda row: row.path)
async def test_a_tag_opens_nothing(system: System, route: PartnerRoute) -> None:
    """Another studio gets 404 with a right tag or `*` too, so a tag cannot confirm what it may not see."""
    owner = await owner_of_everything(system)
    ids = owner.ids
    tag = (await call(system.partner(owner.key), route, ids)).headers["ETag"]
    stranger = system.partner(await system.key())
    for tags in (tag, "*"):
        refused = await ask(stranger, route, ids, tags)
        assert (refused.status, refused.code) == (404, "not_found")
        assert "ETag" not in refused.headers


async def test_a_limited_keys_tag_is_that_of_its_own_view(system: System) -> None:
    """The same list, seen by two keys: the tag of one does not match the other's answer."""
    made = bookable()
    place = {"object": "location", "id": new_id(), "name": "L", "city": "", "state": "", "timezone": "UTC"}
    await system.import_lines([place, *made.lines])
    everything = system.partner(await system.key())
    limited = system.partner(await system.key(locations=[place["id"]]))
    tag = (await everything.get("/classes")).headers["ETag"]
    seen = await limited.send("GET", "/classes", headers={"If-None-Match": tag})
    assert (seen.status, seen.json()["data"]) == (200, [])


async def test_a_list_of_tags_may_come_in_several_header_lines(system: System) -> None:
    """As any list in a header may."""
    key = await system.key()
    for path in ("studio", "key"):
        tag = (await system.partner(key).get(f"/{path}")).headers["ETag"]
        head = f"GET /partner/v1/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Service-Key: {key}\r\n"
        lines = f'If-None-Match: {tag}\r\nIf-None-Match: "other"\r\n\r\n'
        connection = await connect(system.running.partner_url)
        await connection.write((head + lines).encode())
        told = await connection.answer()
        connection.close()
        assert told.startswith(b"HTTP/1.1 304 "), told
        assert told.endswith(b"\r\n\r\n")


async def test_a_cancellation_preview_has_no_tag(system: System) -> None:
    """Neither in the answer nor in the document; `If-None-Match` does nothing."""
    owner = await owner_of_everything(system)
    (route,) = (route for route in ROUTES if route.path == UNTAGGED)
    for tags in ("*", '"other"'):
        shown = await ask(system.partner(owner.key), route, owner.ids, tags)
        assert shown.status == 200, shown.body
        assert "ETag" not in shown.headers
    described = document()["paths"][UNTAGGED]["get"]
    assert "304" not in described["responses"]
    assert not {"ETag", "Cache-Control"} & set(described["responses"]["200"]["headers"])
    assert not any("IfNoneMatch" in one.get("$ref", "") for one in described["parameters"])
    tagged = {path for path, methods in document()["paths"].items() if "304" in str(methods.get("get"))}
    assert tagged == {route.path for route in READS}


async def test_a_write_is_not_conditional(system: System) -> None:
    """`If-None-Match: *` on a POST does nothing, and the answer carries no tag."""
    client = system.partner(await system.key())
    body = {"email": "ada@example.com", "first_name": "Ada", "last_name": "Byron"}
    made = await client.post("/members", body, headers={"If-None-Match": "*"})
    assert made.status == 201
    assert "ETag" not in made.headers


async def test_tags_and_bodies_change_together(system: System) -> None:
    """Random bookings and cancellations: two polls have one tag exactly when they have one body."""
    made = bookable(classes=3, members=4)
    await system.import_lines(made.lines)
    client = system.partner(await system.key())
    chance = random.Random(4711)
    bodies: dict[str, bytes] = {}
    live: list[str] = []
    for _ in range(40):
        if live and chance.random() < 0.5:
            gone = live.pop(chance.randrange(len(live)))
            await client.delete(f"/bookings/{gone}", headers={"Idempotency-Key": new_id()})
        elif chance.random() < 0.7:
            body = {"class_id": chance.choice(made.class_ids), "member_id": chance.choice(made.member_ids)}
            booked = await client.post("/bookings", body, headers={"Idempotency-Key": new_id()})
            live += [booked.json()["id"]] if booked.status == 201 else []
        path = chance.choice(["/classes", "/bookings", f"/classes/{made.class_ids[0]}"])
        held = {tag for tag in bodies if tag.startswith(path)}
        tags = ",".join(tag.removeprefix(path) for tag in held) or '"none"'
        full = await client.get(path)
        seen = await client.send("GET", path, headers={"If-None-Match": tags})
        tag = path + full.headers["ETag"]
        assert seen.status == (304 if tag in held else 200)
        assert bodies.setdefault(tag, full.body) == full.body
    assert len(set(bodies.values())) == len(bodies) > 10
