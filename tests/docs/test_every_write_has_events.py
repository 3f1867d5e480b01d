"""Every route that writes is in a table, and a mirror shows that its changes create events."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from services.bookings import app as bookings
from services.catalog import app as catalog
from services.forms import app as forms
from services.webhooks import app as webhooks
from shared.wire import new_id
from tests.docs.mirrored_studio import MirroredStudio
from tests.docs.test_mirroring import Mirror, loaded, mirrors_of, settled
from tests.harness.http import Reply
from tests.harness.system import System

OWN = "The caller's own setting, of which it hears in the answer."
READS = "It only computes an answer."
SENDS = "It sends again what was told before."
# What each writing route does below, or why it changes nothing that partners see. A new route has to be added
# here; if it changes something that can be read, the mirror must end up equal.
WRITES: dict[str, str] = {
    "POST /members": "a_member",
    "POST /bookings": "a_booking",
    "POST /bookings/preview": READS,
    "DELETE /bookings/{booking_id}": "a_cancellation",
    "POST /staff/classes": "a_class",
    "PATCH /staff/classes/{class_id}": "another_title",
    "POST /staff/classes/{class_id}/cancel": "a_cancelled_class",
    "POST /staff/bookings/{booking_id}/check-in": "a_check_in",
    "POST /staff/bookings/{booking_id}/undo-check-in": "an_undone_check_in",
    "POST /staff/bookings/{booking_id}/no-show": "a_no_show",
    "POST /staff/bookings/{booking_id}/cancel": "a_cancellation_at_the_desk",
    "POST /staff/memberships/{membership_id}/pause": "a_pause",
    "POST /staff/memberships/{membership_id}/resume": "a_resumption",
    "POST /staff/memberships/{membership_id}/cancel": "a_cancelled_membership",
    "POST /staff/purchases": "a_purchase",
    "POST /internal/import": "an_import",
    "POST /internal/import/check": READS,
    "POST /internal/erase": "an_erasure",
    "POST /forms": "a_form",
    "PUT /forms/{form_id}": "another_form_title",
    "POST /forms/{form_id}/evaluate": READS,
    "POST /forms/{form_id}/submissions": "a_submission",
    "POST /leads": "a_lead",
    "PATCH /leads/{lead_id}": "another_lead_name",
    "POST /leads/{lead_id}/update": "another_lead_name_by_post",
    "POST /staff/forms/{form_id}/submissions/{submission_id}/review": "a_review",
    "POST /staff/forms/{form_id}/submissions/{submission_id}/reject": "a_rejection",
    "POST /webhook-endpoints": OWN,
    "PATCH /webhook-endpoints/{endpoint_id}": OWN,
    "DELETE /webhook-endpoints/{endpoint_id}": OWN,
    "POST /webhook-endpoints/{endpoint_id}/rotate-secret": OWN,
    "POST /webhook-endpoints/{endpoint_id}/test": SENDS,
    "POST /webhook-endpoints/{endpoint_id}/recover": SENDS,
    "POST /webhook-deliveries/{delivery_id}/retry": SENDS,
    "POST /staff/webhook-endpoints/{endpoint_id}/recover": SENDS,
    "POST /staff/webhook-deliveries/{delivery_id}/retry": SENDS,
    "POST /staff/queues/{queue}/parked/requeue": SENDS,
    "POST /internal/clients/revoked": "Disables endpoints, which is webhook_endpoint.disabled.",
    "POST /internal/keys/revoked": "Disables endpoints, which is webhook_endpoint.disabled.",
    "POST /internal/sequences/advance": "A jump of the sequence after a restore.",
}
# The same operation as a partner's, under the staff's prefix.
TWICE = ("/forms", "/leads")


def write_routes() -> set[str]:
    found = set()
    for service in (catalog, bookings, forms, webhooks):
        for route in service.routes():
            partners = route.path.removeprefix("/staff")
            if (
                route.method != "GET"
                and f"{route.method} {partners}" in WRITES
                and partners.startswith(TWICE)
            ):
                found.add(f"{route.method} {partners}")
            elif route.method != "GET":
                found.add(f"{route.method} {route.path}")
    return found


def test_every_route_that_writes_is_in_the_table() -> None:
    """A new route must say how its changes become events."""
    assert write_routes() == set(WRITES)
    done = {what for what in WRITES.values() if " " not in what}
    assert {name for name in done if not hasattr(Doing, name)} == set()


class Doing:
    """Does what a route is for, in a studio of its own; each act needs those before it."""

    def __init__(self, studio: MirroredStudio) -> None:
        self.studio = studio
        self.partner = studio.partner
        self.class_id = studio.classes[0]["id"]
        self.people = [member["id"] for member in studio.members]
        self.membership = f"/memberships/{studio.memberships[0]['id']}"
        self.held: dict[str, str] = {}

    async def staff(self, method: str, path: str, body: Any = None) -> Any:
        return _ok(await self.studio.staff(method, path, body))

    async def _book(self, name: str, member: int) -> None:
        reply = await self.partner.book(self.class_id, self.people[member], join_waitlist=True)
        self.held[name] = _ok(reply)["id"]

    async def a_member(self) -> None:
        body = {"email": f"{new_id()}@example.com", "first_name": "New", "last_name": "Person"}
        _ok(await self.partner.post("/members", body))

    async def a_booking(self) -> None:
        await self._book("first", 0)
        await self._book("second", 1)

    async def a_cancellation(self) -> None:
        _ok(await self.partner.cancel(self.held["first"]))

    async def a_class(self) -> None:
        start = datetime.now(UTC) + timedelta(days=1)
        times = {"start_time": start.isoformat(), "end_time": (start + timedelta(hours=1)).isoformat()}
        body = {"title": "New", "capacity": 3, "location_id": self.studio.places[0]["id"]} | times
        self.held["class"] = (await self.staff("POST", "/classes", body))["id"]

    async def another_title(self) -> None:
        await self.staff("PATCH", f"/classes/{self.class_id}", {"title": "Other"})

    async def a_cancelled_class(self) -> None:
        await self.staff("POST", f"/classes/{self.held['class']}/cancel", {})

    async def a_check_in(self) -> None:
        await self.staff("POST", f"/bookings/{self.held['second']}/check-in")

    async def an_undone_check_in(self) -> None:
        await self.staff("POST", f"/bookings/{self.held['second']}/undo-check-in")

    async def a_no_show(self) -> None:
        now = datetime.now(UTC)
        end = (now + timedelta(hours=1)).isoformat()
        times = {"start_time": (now - timedelta(minutes=1)).isoformat(), "end_time": end}
        await self.staff("PATCH", f"/classes/{self.class_id}", times)
        await self.staff("POST", f"/bookings/{self.held['second']}/no-show")

    async def a_cancellation_at_the_desk(self) -> None:
        self.class_id = self.studio.classes[1]["id"]
        await self._book("third", 1)
        await self.staff("POST", f"/bookings/{self.held['third']}/cancel", {})

    async def a_pause(self) -> None:
        await self.staff("POST", f"{self.membership}/pause", {})

    async def a_resumption(self) -> None:
        await self.staff("POST", f"{self.membership}/resume")

    async def a_cancelled_membership(self) -> None:
        await self.staff("POST", f"{self.membership}/cancel", {})

    async def a_purchase(self) -> None:
        body = {"member_id": self.people[0], "product_id": self.studio.catalog[2]["id"]}
        await self.staff("POST", "/purchases", body)

    async def an_import(self) -> None:
        await self.studio.system.import_lines([self.studio.rooms[0] | {"name": "Other"}], send_events=True)

    async def an_erasure(self) -> None:
        _ok(await self.studio.system.operator.post(f"/members/{self.people[2]}/erase"))

    async def a_form(self) -> None:
        reply = await self.partner.post("/forms", {"title": "Intake", "status": "published"})
        self.held["form"] = _ok(reply)["id"]

    async def another_form_title(self) -> None:
        _ok(await self.partner.put(f"/forms/{self.held['form']}", {"title": "Other"}))

    async def a_submission(self) -> None:
        for name in ("submission", "other submission"):
            body = {"submitter_email": f"{new_id()}@example.com", "data": {}}
            reply = await self.partner.post(f"/forms/{self.held['form']}/submissions", body)
            self.held[name] = _ok(reply)["id"]

    async def a_lead(self) -> None:
        self.held["lead"] = _ok(await self.partner.post("/leads", {"email": f"{new_id()}@example.com"}))["id"]

    async def another_lead_name(self) -> None:
        _ok(await self.partner.patch(f"/leads/{self.held['lead']}", {"first_name": "Lee"}))

    async def another_lead_name_by_post(self) -> None:
        _ok(await self.partner.post(f"/leads/{self.held['lead']}/update", {"first_name": "Kim"}))

    async def a_review(self) -> None:
        path = f"/forms/{self.held['form']}/submissions/{self.held['submission']}/review"
        await self.staff("POST", path)

    async def a_rejection(self) -> None:
        path = f"/forms/{self.held['form']}/submissions/{self.held['other submission']}/reject"
        await self.staff("POST", path)


def _ok(reply: Reply) -> Any:
    assert 200 <= reply.status < 300, reply.body
    return reply.json()


@pytest.mark.timeout(300)
async def test_every_write_creates_its_events(system: System, tmp_path: Path) -> None:
    """Each changes something that can be read, and after all of them the mirror is equal."""
    studio = await loaded(system, 4)
    doing = Doing(studio)
    async with mirrors_of(system, studio, tmp_path) as (mirror, *_):
        await mirror.start()
        assert await settled(mirror) == []
        for route, what in WRITES.items():
            if " " not in what:
                await _changes_something(mirror, route, getattr(doing, what))
        assert await settled(mirror) == []


async def _changes_something(mirror: Mirror, route: str, act: Callable[[], Awaitable[None]]) -> None:
    before = await mirror.listed()
    await act()
    assert await mirror.listed() != before, f"{route} changed nothing that can be read"
