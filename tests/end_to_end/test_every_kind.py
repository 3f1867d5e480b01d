"""Every kind of event once, from its cause through the bus to a real endpoint."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.events.kinds import KINDS
from shared.wire import new_id
from tests.harness import import_lines as lines
from tests.harness.eventually import until
from tests.harness.http import Client, Reply
from tests.harness.receiver import receiving
from tests.harness.system import System


def made(reply: Reply) -> Any:
    assert 200 <= reply.status < 300, reply.body
    return reply.json()


class Causes:
    """What partners, staff, imports, loops and operators do. Each method says which kinds it causes."""

    def __init__(self, system: System, partner: Client) -> None:
        self.system = system
        self.partner = partner
        self.product = lines.product()

    async def staff(self, method: str, path: str, body: Any = None) -> Any:
        return made(await self.system.operator.send(method, f"/studios/{self.system.studio_id}{path}", body))

    async def imported(self, *rows: dict[str, Any]) -> None:
        await self.system.import_lines(rows, send_events=True)

    async def change_the_catalog(self) -> None:
        """Location, room, class type, instructor and product: created and updated; the studio: updated."""
        place = lines.location()
        rows = [place, lines.room(place["id"]), lines.class_type(), lines.instructor(), self.product]
        await self.imported(*rows)
        await self.imported(*(row | {"name": "Renamed"} for row in rows))
        await self.imported(made(await self.partner.get("/studio")) | {"primary_color": "#102030"})

    async def members(self) -> list[str]:
        """member.created and member.updated, membership and purchase: created and updated."""
        names = {"first_name": "Ada", "last_name": "Byron"}
        people = [names | {"email": f"{new_id()}@example.com"} for _ in range(3)]
        ids = [made(await self.partner.post("/members", body))["id"] for body in people]
        shown = made(await self.partner.get(f"/members/{ids[0]}"))
        await self.imported(shown | {"membership_type": "intro"})
        card = lines.membership(ids[0], self.product["id"])
        await self.imported(card)
        await self.staff("POST", f"/memberships/{card['id']}/pause", {})
        body = {"member_id": ids[0], "product_id": self.product["id"], "status": "pending"}
        bought = await self.staff("POST", "/purchases", body)
        await self.imported(bought | {"status": "completed"})
        return [str(one) for one in ids]

    async def book(self, class_id: str, member_id: str) -> str:
        return str(made(await self.partner.book(class_id, member_id, join_waitlist=True))["id"])

    async def fill_and_start_a_class(self, members: list[str]) -> None:
        """Class: created, full, updated, reopened, cancelled; every kind of a booking; waitlist.updated."""
        first, second, third = members
        line = lines.class_()
        await self.imported(line)
        held = made(await self.partner.book(line["id"], third, hold_seconds=900))
        assert held["status"] == "held"
        made(await self.partner.cancel(held["id"]))
        seated = await self.book(line["id"], first)
        await self.book(line["id"], second)
        made(await self.partner.cancel(seated))
        (live,) = await self._bookings(line["id"], "confirmed")
        await self.move_there_and_back(live, line["id"])
        waiting = await self.book(line["id"], third)
        for step in ("check-in", "undo-check-in"):
            await self.staff("POST", f"/bookings/{live}/{step}")
        now = datetime.now(UTC)
        times = {
            "start_time": (now - timedelta(minutes=1)).isoformat(),
            "end_time": (now + timedelta(hours=1)).isoformat(),
        }
        await self.staff("PATCH", f"/classes/{line['id']}", times)
        await self.partner.until(f"/bookings/{waiting}", lambda booking: booking["status"] == "expired")
        await self.staff("POST", f"/bookings/{live}/no-show")
        other = lines.class_()
        await self.imported(other)
        await self.staff("POST", f"/classes/{other['id']}/cancel", {})

    async def move_there_and_back(self, booking_id: str, class_id: str) -> None:
        """booking.rescheduled."""
        other = lines.class_()
        await self.imported(other)
        made(await self.partner.move(booking_id, other["id"]))
        made(await self.partner.move(booking_id, class_id))

    async def _bookings(self, class_id: str, status: str) -> list[str]:
        page = made(await self.partner.get("/bookings", class_id=class_id, status=status))
        return [row["id"] for row in page["data"]]

    async def forms_and_leads(self) -> str:
        """Form: created, updated, submitted; submission.updated; lead: created and updated."""
        form = made(await self.partner.post("/forms", {"title": "Intake", "status": "published"}))["id"]
        made(await self.partner.put(f"/forms/{form}", {"title": "Other"}))
        body = {"submitter_email": f"{new_id()}@example.com", "data": {}}
        submission = made(await self.partner.post(f"/forms/{form}/submissions", body))["id"]
        await self.staff("POST", f"/forms/{form}/submissions/{submission}/review")
        lead = made(await self.partner.post("/leads", {"email": f"{new_id()}@example.com"}))["id"]
        made(await self.partner.patch(f"/leads/{lead}", {"first_name": "Lee"}))
        return str(lead)

    async def erase(self, member_id: str, lead_id: str) -> None:
        """member.erased and lead.erased."""
        made(await self.system.operator.post(f"/members/{member_id}/erase"))
        made(await self.system.operator.post(f"/leads/{lead_id}/erase"))


@pytest.mark.timeout(240)
async def test_every_kind_reaches_a_real_endpoint(system: System, partner: Client) -> None:
    """Each arrives with the bytes of the log, for its scope in the table of kinds."""
    async with receiving() as receiver:
        endpoint = made(await partner.post("/webhook-endpoints", {"url": receiver.url}))
        other = made(
            await partner.post("/webhook-endpoints", {"url": receiver.url, "event_types": ["webhook.test"]})
        )
        causes = Causes(system, partner)
        await causes.change_the_catalog()
        members = await causes.members()
        await causes.fill_and_start_a_class(members)
        await causes.erase(members[0], await causes.forms_and_leads())
        made(await partner.post(f"/webhook-endpoints/{endpoint['id']}/test"))
        made(await partner.patch(f"/webhook-endpoints/{other['id']}", {"status": "disabled"}))

        def arrived() -> set[str]:
            return {json.loads(post.body)["type"] for post in receiver.received}

        try:
            await until(lambda: arrived() >= set(KINDS), seconds=120)
        except TimeoutError:
            raise AssertionError(f"never arrived: {sorted(set(KINDS) - arrived())}") from None
        for kind in KINDS:
            post = next(post for post in receiver.received if json.loads(post.body)["type"] == kind)
            stored = await partner.get(f"/events/{json.loads(post.body)['id']}")
            assert stored.status == 200, kind
            # An erasure rewrites what the log still has about the person.
            if KINDS[kind].resource not in ("member", "lead", "membership"):
                assert stored.body == post.body, kind
