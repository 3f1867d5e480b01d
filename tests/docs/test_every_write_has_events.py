"""Every route that writes is in a table, and a mirror shows that its changes create events."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from services.bookings import app as bookings
from services.catalog import app as catalog
from services.forms import app as forms
from services.webhooks import app as webhooks
from shared.wire import encode, new_id
from tests.docs.mirrored_studio import MirroredStudio
from tests.docs.test_mirroring import loaded, mirrors_of, settled
from tests.harness.http import Reply, created
from tests.harness.system import System

OWN = "The caller's own setting, of which it hears in the answer."
READS = "It only computes an answer."
SENDS = "It sends again what was told before."
DROPS = "It drops what was told before."


class Act(Struct, frozen=True):
    """What is sent to a route, once for each name of what it makes, and by name what is in its path."""

    body: Any = None
    path: dict[str, str] = {}
    makes: tuple[str, ...] = ("",)


def soon(**delta: float) -> str:
    return (datetime.now(UTC) + timedelta(**delta)).isoformat()


def new_email() -> str:
    return f"{new_id()}@example.com"


IN_FORM = {"form_id": "form"}
# What each writing route is asked below, or why it changes nothing that partners see. A new route has to be
# added here; if it changes something that can be read, the mirror must end up equal.
WRITES: dict[str, Act | str] = {
    "POST /members": Act({"email": new_email(), "first_name": "New", "last_name": "Person"}),
    "POST /bookings": Act(
        {"class_id": "class", "member_id": "member", "join_waitlist": True}, makes=("booking",)
    ),
    "POST /bookings/preview": READS,
    "POST /bookings/{booking_id}/reschedule": Act({"class_id": "last class"}, {"booking_id": "other seat"}),
    "POST /bookings/{booking_id}/reschedule/preview": READS,
    "POST /staff/events/prune": DROPS,
    "DELETE /bookings/{booking_id}": Act(path={"booking_id": "booking"}),
    "POST /staff/members": Act({"email": new_email(), "first_name": "Walk", "last_name": "In"}),
    "POST /staff/bookings": Act(
        {"class_id": "class", "member_id": "late member", "override_capacity": True}, makes=("walk-in",)
    ),
    "POST /staff/waitlist/{waitlist_id}/promote": Act({"override_capacity": True}, {"waitlist_id": "entry"}),
    "POST /staff/waitlist/{waitlist_id}/skip": Act(path={"waitlist_id": "other entry"}),
    "POST /staff/bookings/{booking_id}/waive-fee": "Partners see a receipt only when they cancel again.",
    "POST /internal/names": READS,
    "POST /bookings/{booking_id}/confirm": Act(path={"booking_id": "hold"}),
    "POST /staff/classes": Act(
        {"title": "New", "capacity": 3, "start_time": soon(days=1), "end_time": soon(days=2)},
        makes=("new class",),
    ),
    "POST /staff/classes/{class_id}/cancel": Act({}, {"class_id": "new class"}),
    "POST /staff/bookings/{booking_id}/check-in": Act(path={"booking_id": "seat"}),
    "POST /staff/bookings/{booking_id}/undo-check-in": Act(path={"booking_id": "seat"}),
    "PATCH /staff/classes/{class_id}": Act(
        {"title": "Other", "start_time": soon(minutes=-1), "end_time": soon(hours=1)}, {"class_id": "class"}
    ),
    "POST /staff/bookings/{booking_id}/no-show": Act(path={"booking_id": "seat"}),
    "POST /staff/bookings/{booking_id}/cancel": Act({}, {"booking_id": "other seat"}),
    "POST /staff/memberships/{membership_id}/pause": Act({}, {"membership_id": "membership"}),
    "POST /staff/memberships/{membership_id}/resume": Act(path={"membership_id": "membership"}),
    "POST /staff/memberships/{membership_id}/cancel": Act({}, {"membership_id": "membership"}),
    "POST /staff/purchases": Act({"member_id": "member", "product_id": "product"}),
    "POST /internal/import": Act(),
    "POST /internal/import/check": READS,
    "POST /internal/erase": Act(),
    "POST /forms": Act({"title": "Intake", "status": "published"}, makes=("form",)),
    "PUT /forms/{form_id}": Act({"title": "Other"}, IN_FORM),
    "POST /forms/{form_id}/evaluate": READS,
    "POST /forms/{form_id}/submissions": Act(
        {"submitter_email": new_email(), "data": {}}, IN_FORM, makes=("submission", "other submission")
    ),
    "POST /leads": Act({"email": new_email()}, makes=("lead",)),
    "PATCH /leads/{lead_id}": Act({"first_name": "Lee"}, {"lead_id": "lead"}),
    "POST /leads/{lead_id}/update": Act({"first_name": "Kim"}, {"lead_id": "lead"}),
    "POST /staff/forms/{form_id}/submissions/{submission_id}/review": Act(
        path=IN_FORM | {"submission_id": "submission"}
    ),
    "POST /staff/forms/{form_id}/submissions/{submission_id}/reject": Act(
        path=IN_FORM | {"submission_id": "other submission"}
    ),
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
    "POST /internal/clients/revoked": "webhook_endpoint.disabled, and booking.cancelled of holds.",
    "POST /internal/keys/revoked": "Disables endpoints, which is webhook_endpoint.disabled.",
    "POST /internal/sequences/advance": "A jump of the sequence after a restore.",
}
# The same operation as a partner's, under the staff's prefix.
TWICE = ("/forms", "/leads")


def write_routes() -> set[str]:
    routes = [route for service in (catalog, bookings, forms, webhooks) for route in service.routes()]
    found = {f"{route.method} {route.path}" for route in routes if route.method != "GET"}
    twins = {name for name in found if name.partition(" /staff")[2].startswith(TWICE)}
    return {name for name in found if name not in twins or name.replace(" /staff", " ") not in found}


def test_every_route_that_writes_is_in_the_table() -> None:
    """A new route must say how its changes become events."""
    assert write_routes() == set(WRITES)


class Doing:
    """Does what a route is for, in a studio of its own."""

    def __init__(self, studio: MirroredStudio) -> None:
        self.studio = studio
        self.held = {
            "class": studio.classes[0]["id"],
            "last class": studio.classes[-1]["id"],
            "member": studio.members[0]["id"],
            "late member": studio.members[3]["id"],
            "membership": studio.memberships[0]["id"],
            "product": studio.catalog[2]["id"],
        }

    async def take_seats(self) -> None:
        """One in the class that is started below, one in another."""
        member_id = self.studio.members[1]["id"]
        for name, class_ in zip(("seat", "other seat"), self.studio.classes, strict=False):
            self.held[name] = created(await self.studio.partner.book(class_["id"], member_id))["id"]
        other, first = self.studio.classes[1]["id"], self.studio.members[0]["id"]
        hold = await self.studio.partner.book(other, first, hold_seconds=900)
        self.held["hold"] = created(hold)["id"]
        await self._queue(self.studio.classes[2]["id"])

    async def _queue(self, class_id: str) -> None:
        """Two who wait for a third."""
        for member in (self.studio.members[1], self.studio.members[0], self.studio.members[3]):
            created(await self.studio.partner.book(class_id, member["id"], join_waitlist=True))
        waiting = (await self.studio.partner.get(f"/waitlist?class_id={class_id}")).json()["data"]
        self.held["entry"], self.held["other entry"] = (entry["id"] for entry in waiting)

    async def act(self, route: str, act: Act) -> None:
        for name in act.makes:
            reply = await self._send(route, act)
            assert 200 <= reply.status < 300, (route, reply.body)
            if name:
                self.held[name] = reply.json()["id"]

    async def _send(self, route: str, act: Act) -> Reply:
        system = self.studio.system
        method, _, path = route.partition(" ")
        path = path.format(**{name: self.held[what] for name, what in act.path.items()})
        if path == "/internal/import":
            changed = encode(self.studio.rooms[0] | {"name": "Other"})
            return await system.operator.post("/import", raw=changed, studio=system.studio_id)
        if path == "/internal/erase":
            return await system.operator.post(f"/members/{self.studio.members[2]['id']}/erase")
        if path.startswith("/staff"):
            return await self.studio.staff(method, path.removeprefix("/staff"), self._body(act))
        headers = {"Idempotency-Key": new_id()}
        return await self.studio.partner.send(method, path, self._body(act), headers=headers)

    def _body(self, act: Act) -> Any:
        """With the ids of what is named there."""
        named = act.body.items() if act.body else ()
        ids = {name: self.held[value] for name, value in named if name.endswith("_id")}
        return act.body | ids if ids else act.body


@pytest.mark.timeout(300)
async def test_every_write_creates_its_events(system: System, tmp_path: Path) -> None:
    """Each changes something that can be read, and after all of them the mirror is equal."""
    studio = await loaded(system, 4)
    doing = Doing(studio)
    await doing.take_seats()
    async with mirrors_of(system, studio, tmp_path) as (mirror, *_):
        await mirror.start()
        assert await settled(mirror) == []
        for route, act in WRITES.items():
            if isinstance(act, Act):
                before = await mirror.listed()
                await doing.act(route, act)
                assert await mirror.listed() != before, f"{route} changed nothing that can be read"
        assert await settled(mirror) == []
