"""Real ids for every parameter of every route, and a request to any route with them."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime

from services.cli.demo import STUDIO_ID, demo_lines
from shared.routing import PartnerRoute
from shared.wire import encode, new_id
from tests.harness.http import Client, Reply
from tests.harness.system import System

# A body that is valid enough for each write to look up its path. Routes without an id need none.
BODIES: dict[str, object] = {
    "PUT /forms/{form_id}": {"title": "New"},
    "POST /forms/{form_id}/evaluate": {"data": {}},
    "POST /forms/{form_id}/submissions": {"submitter_email": "a@example.com", "data": {}},
    "PATCH /leads/{lead_id}": {"first_name": "A"},
    "POST /leads/{lead_id}/update": {"first_name": "A"},
    "PATCH /webhook-endpoints/{endpoint_id}": {"description": "x"},
    "POST /bookings/{booking_id}/reschedule": {"class_id": new_id()},
    "POST /bookings/{booking_id}/reschedule/preview": {"class_id": new_id()},
    "POST /webhook-endpoints/{endpoint_id}/recover": {"since": "2026-01-01T00:00:00Z"},
}
_ids: dict[str, str] = {}


def _demo_ids() -> Iterator[tuple[str, str]]:
    """One id of each kind; a published form, since a draft would be 404 anyway."""
    for line in demo_lines(date(2030, 1, 7)):
        if line["object"] == "form" and line["status"] != "published":
            continue
        if line["object"] == "form_submission":
            yield "submission_id", str(line["id"])
            yield "form_id", str(line["form_id"])
        else:
            yield f"{line['object']}_id", str(line["id"])


async def demo_ids_in(system: System) -> dict[str, str]:
    """The demo studio, imported once, with a webhook endpoint, its delivery and an event."""
    if not _ids:
        lines = b"\n".join(encode(line) for line in demo_lines(date(2030, 1, 7)))
        # No studio is given: the first line creates the demo studio.
        report = (await system.operator.post("/import", raw=lines)).json()
        assert report["rejected"] == [], report["rejected"][:5]
        _ids.update(_demo_ids(), key=new_id())
        owner = system.partner(await system.key(studio=STUDIO_ID))
        endpoint = await owner.create("/webhook-endpoints", {"url": "https://example.com/hook"})
        _ids["endpoint_id"] = endpoint["id"]
        assert (await owner.post(f"/webhook-endpoints/{endpoint['id']}/test")).status == 202
        since = {"since": datetime.now(UTC).isoformat()}
        recovery = await owner.post(f"/webhook-endpoints/{endpoint['id']}/recover", since)
        _ids["recovery_id"] = recovery.json()["id"]
        found = await owner.until(f"/webhook-endpoints/{endpoint['id']}/deliveries")
        _ids["delivery_id"], _ids["event_id"] = found["data"][0]["id"], found["data"][0]["event_id"]
    return _ids


def query_of(route: PartnerRoute, ids: Mapping[str, str]) -> str:
    """The route's path, with the query that it needs."""
    needed = {
        "GET /webhook-deliveries": f"?event_id={ids['event_id']}",
        "GET /webhook-endpoints/{endpoint_id}/missed-events": "?since=2026-01-01T00:00:00Z",
    }
    return route.path.format(**ids) + needed.get(f"{route.method} {route.path}", "")


async def call(client: Client, route: PartnerRoute, ids: dict[str, str]) -> Reply:
    path = query_of(route, ids)
    body = BODIES.get(f"{route.method} {route.path}")
    return await client.send(route.method, path, body, headers={"Idempotency-Key": new_id()})
