"""A real id of another studio in a path gets 404, and the answer reveals nothing about it."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from services.cli.demo import STUDIO_ID, demo_lines
from shared.routing import ROUTES, PartnerRoute
from shared.wire import encode, new_id
from tests.harness.system import System
from tests.services.gateway.test_routing import BODIES

PARAMETERS = {
    "location": "location_id",
    "room": "room_id",
    "class_type": "class_type_id",
    "instructor": "instructor_id",
    "product": "product_id",
    "class": "class_id",
    "member": "member_id",
    "membership": "membership_id",
    "booking": "booking_id",
    "waitlist": "waitlist_id",
    "purchase": "purchase_id",
    "form": "form_id",
    "form_submission": "submission_id",
    "lead": "lead_id",
}
_ids: dict[str, str] = {}


def demo_ids() -> Iterator[tuple[str, str]]:
    """One id of each kind; a published form, since a draft would be 404 anyway."""
    for line in demo_lines(date(2030, 1, 7)):
        if line["object"] == "form" and line["status"] != "published":
            continue
        if (name := PARAMETERS.get(str(line["object"]))) is not None:
            yield name, str(line["id"])
            if line["object"] == "form_submission":
                yield "form_id", str(line["form_id"])


async def other_studios_ids(system: System) -> dict[str, str]:
    """The demo studio, imported once, with a webhook endpoint, its delivery and an event."""
    if not _ids:
        lines = b"\n".join(encode(line) for line in demo_lines(date(2030, 1, 7)))
        # No studio is given: the first line creates the demo studio.
        report = (await system.operator.post("/import", raw=lines)).json()
        assert report["rejected"] == [], report["rejected"][:5]
        _ids.update(demo_ids())
        owner = system.partner(await system.key(studio=STUDIO_ID))
        endpoint = (await owner.post("/webhook-endpoints", {"url": "https://example.com/hook"})).json()
        _ids["endpoint_id"] = endpoint["id"]
        assert (await owner.post(f"/webhook-endpoints/{endpoint['id']}/test")).status == 202
        since = {"since": datetime.now(UTC).isoformat()}
        recovery = await owner.post(f"/webhook-endpoints/{endpoint['id']}/recover", since)
        _ids["recovery_id"] = recovery.json()["id"]
        while not (
            found := (await owner.get(f"/webhook-endpoints/{endpoint['id']}/deliveries")).json()["data"]
        ):
            pass
        _ids["delivery_id"], _ids["event_id"] = found[0]["id"], found[0]["event_id"]
    return _ids


async def call(client: Any, route: PartnerRoute, ids: dict[str, str]) -> Any:
    path = re.sub(r"\{(\w+)\}", lambda name: ids[name[1]], route.path)
    body = BODIES.get(f"{route.method} {route.path}")
    return await client.send(route.method, path, body, headers={"Idempotency-Key": new_id()})


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if "_id}" in route.path], ids=lambda row: f"{row.method} {row.path}"
)
async def test_another_studios_id_is_404(system: System, route: PartnerRoute) -> None:
    """The id works for its own studio and does not exist for any other."""
    ids = await other_studios_ids(system)
    stranger = await call(system.partner(await system.key()), route, ids)
    assert (stranger.status, stranger.code) == (404, "not_found"), stranger.body
    if route.method == "GET":
        owner = await call(system.partner(await system.key(studio=STUDIO_ID, client="test")), route, ids)
        # A webhook endpoint belongs to the client that created it, which is this one.
        assert owner.status == 200, owner.body
