"""Every GET of the routing table: a strong ETag on its 200, 304 for a caller that has that response."""

from collections.abc import Mapping

import pytest

from services.cli.demo import STUDIO_ID
from shared.routing import ROUTES, PartnerRoute
from shared.wire import new_id
from tests.harness.bookable_studio import bookable
from tests.harness.http import Client, Reply, created
from tests.harness.system import System
from tests.services.gateway.demo_ids import call, demo_ids_in, query_of

# It tells the present instant, so no response comes twice.
UNTAGGED = "/bookings/{booking_id}/cancellation-preview"
READS = [route for route in ROUTES if route.method == "GET" and route.path != UNTAGGED]
# Each response's own, whatever its status.
VARYING = {"content-length", "date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"}
# Deliveries to an endpoint that does not answer are attempted again; each request is soon in the list of
# requests.
CHANGING = (
    "/webhook-endpoints/{endpoint_id}/deliveries",
    "/webhook-deliveries",
    "/webhook-deliveries/{delivery_id}",
    "/requests",
    "/webhook-health",
    "/requests/counts",
)


def lasting(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() not in VARYING}


_owner: list[tuple[str, dict[str, str]]] = []


async def owner_of_everything(system: System) -> tuple[Client, dict[str, str]]:
    """Of the demo studio, with ids for every parameter. Created once.

    Among the ids: a booking that can still be cancelled, and the key it was made with.
    """
    if not _owner:
        made, key = bookable(), new_id()
        ids = await demo_ids_in(system) | {"key": key}
        await system.import_lines(made.lines, STUDIO_ID)
        owner = await system.key(studio=STUDIO_ID, client="test")
        booked = created(await system.partner(owner).book(made.class_ids[0], made.member_ids[0], key=key))
        _owner.append((owner, ids | {"booking_id": booked["id"]}))
    owner, ids = _owner[0]
    return system.partner(owner), ids


async def ask(client: Client, route: PartnerRoute, ids: Mapping[str, str], tags: str) -> Reply:
    return await client.send("GET", query_of(route, ids), headers={"If-None-Match": tags})


@pytest.mark.parametrize("route", READS, ids=lambda route: route.path)
async def test_every_get_carries_a_tag_and_answers_304_to_it(system: System, route: PartnerRoute) -> None:
    """The tag depends on the body alone; lists and `*` work too, and the headers are those of the 200.

    Another studio gets 404 with a right tag or `*` too, so a tag cannot confirm what it may not see.
    """
    client, ids = await owner_of_everything(system)
    full = await call(client, route, ids)
    assert full.status == 200, full.body
    tag = full.headers["ETag"]
    again = await call(client, route, ids)
    assert (again.headers["ETag"] == tag) == (again.body == full.body)
    assert full.headers["Cache-Control"] == "private, no-cache"
    for tags in (tag, "*") if "_id}" in route.path else ():
        refused = await ask(system.partner(await system.key()), route, ids, tags)
        assert (refused.status, refused.code, "ETag" in refused.headers) == (404, "not_found", False)
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


async def test_a_cancellation_preview_has_no_tag(system: System) -> None:
    """`If-None-Match` does nothing there."""
    owner, ids = await owner_of_everything(system)
    (route,) = (route for route in ROUTES if route.path == UNTAGGED)
    for tags in ("*", '"other"'):
        shown = await ask(owner, route, ids, tags)
        assert shown.status == 200, shown.body
        assert "ETag" not in shown.headers


async def test_a_write_is_not_conditional(partner: Client) -> None:
    """`If-None-Match: *` on a POST does nothing, and the response carries no tag."""
    body = {"email": "ada@example.com", "first_name": "Ada", "last_name": "Byron"}
    made = await partner.post("/members", body, headers={"If-None-Match": "*"})
    assert made.status == 201
    assert "ETag" not in made.headers
