"""A studio in which partners, staff, imports, erasures and time change everything that can be read."""

import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.wire import new_id
from tests.harness import import_lines as lines
from tests.harness.http import Reply
from tests.harness.system import System

Line = dict[str, Any]


class MirroredStudio:
    """`act` makes one random change. Some are refused: what matters is that the copies agree."""

    def __init__(self, system: System, key: str, seed: int) -> None:
        self.system = system
        self.partner = system.partner(key)
        self.random = random.Random(seed)
        self.places = [lines.location(name=name) for name in ("Downtown", "Uptown")]
        self.rooms = [lines.room(place["id"]) for place in self.places]
        self.catalog = [lines.class_type(), lines.instructor(), lines.product()]
        self.members = [lines.member(first_name=f"Ada{number}") for number in range(4)]
        self.memberships = [self._membership(member["id"]) for member in self.members[:2]]
        self.classes = [self._class(place["id"], seats) for place in self.places for seats in (1, 2)]
        self.forms: list[str] = []
        self.leads: list[str] = []
        self.bookings: list[str] = []
        self.ending: list[tuple[str, str]] = []
        self.beginning: list[str] = []

    def _membership(self, member_id: str) -> Line:
        return lines.membership(member_id, self.catalog[2]["id"])

    def _class(self, location_id: str, seats: int) -> Line:
        start = datetime.now(UTC) + timedelta(days=self.random.randint(1, 9))
        return lines.class_(start_time=start, location_id=location_id, capacity=seats)

    async def load(self) -> None:
        people = [*self.members, *self.memberships]
        await self.system.import_lines([*self.places, *self.rooms, *self.catalog, *people, *self.classes])
        await self.new_form()
        await self.new_lead()

    async def act(self) -> None:
        await self.random.choice(self.acts)()

    @property
    def acts(self) -> list[Callable[[], Awaitable[Any]]]:
        seats = [self.book, self.book, self.cancel, self.check_in, self.move_class, self.change_class]
        seats += [self.hold, self.confirm, self.move]
        rest = [self.import_class, self.import_member, self.import_catalog, self.import_booking, self.pause]
        people = [self.new_member, self.new_lead, self.patch_lead, self.purchase, self.cancel_class]
        forms = [self.new_form, self.change_form, self.submit]
        return [*seats, *rest, *people, *forms, self.erase, self.let_membership_end, self.let_class_begin]

    async def staff(self, method: str, path: str, body: Any = None) -> Reply:
        return await self.system.operator.send(method, f"/studios/{self.system.studio_id}{path}", body)

    async def book(self, **options: Any) -> None:
        class_, member = self.random.choice(self.classes), self.random.choice(self.members)
        reply = await self.partner.book(class_["id"], member["id"], **(options or {"join_waitlist": True}))
        if reply.status == 201:
            self.bookings.append(reply.json()["id"])

    async def hold(self) -> None:
        await self.book(hold_seconds=30)

    async def confirm(self) -> None:
        if self.bookings:
            path = f"/bookings/{self.random.choice(self.bookings)}/confirm"
            await self.partner.post(path, headers={"Idempotency-Key": new_id()})

    async def cancel(self) -> None:
        if self.bookings:
            await self.partner.cancel(self.random.choice(self.bookings))

    async def move(self) -> None:
        if self.bookings:
            class_ = self.random.choice(self.classes)
            await self.partner.move(self.random.choice(self.bookings), class_["id"])

    async def check_in(self) -> None:
        if self.bookings:
            step = self.random.choice(("check-in", "undo-check-in"))
            await self.staff("POST", f"/bookings/{self.random.choice(self.bookings)}/{step}")

    async def move_class(self) -> None:
        body = {"location_id": self.random.choice(self.places)["id"]}
        await self.staff("PATCH", f"/classes/{self.random.choice(self.classes)['id']}", body)

    async def change_class(self) -> None:
        body = {"capacity": self.random.randint(0, 3), "title": self.random.choice(("Flow", "Slow"))}
        await self.staff("PATCH", f"/classes/{self.random.choice(self.classes)['id']}", body)

    async def cancel_class(self) -> None:
        line = self._class(self.places[0]["id"], 2)
        await self.system.import_lines([line], send_events=True)
        await self.staff("POST", f"/classes/{line['id']}/cancel", {})

    async def import_class(self) -> None:
        place = self.random.choice(self.places)["id"]
        changed = {"location_id": place, "capacity": self.random.randint(1, 3)}
        await self.system.import_lines([self.random.choice(self.classes) | changed], send_events=True)

    async def import_member(self) -> None:
        name = self.random.choice(("Grace", "Mary"))
        changed = self.random.choice(self.members) | {"first_name": name}
        await self.system.import_lines([changed, *self.members[:1]], send_events=True)

    async def import_booking(self) -> None:
        line = {"object": "booking", "id": new_id(), "status": "waitlisted"}
        pair = {"class_id": self.random.choice(self.classes)["id"], "member_id": self.members[-1]["id"]}
        await self.system.try_import(json.dumps(line | pair).encode())

    async def import_catalog(self) -> None:
        class_type, instructor, product = self.catalog
        amount = {"amount": f"{self.random.randint(5, 9)}.00"}
        await self.system.import_lines(
            [
                class_type | {"name": self.random.choice(("Flow", "Slow"))},
                instructor | {"active": self.random.choice((True, False))},
                product | {"prices": [product["prices"][0] | amount]},
                self.rooms[0] | {"location_id": self.random.choice(self.places)["id"]},
                self.places[1] | {"city": self.random.choice(("Boston", "New York"))},
            ],
            send_events=True,
        )

    async def pause(self) -> None:
        path = f"/memberships/{self.random.choice(self.memberships)['id']}"
        await self.staff("POST", f"{path}/{self.random.choice(('pause', 'resume'))}", {})

    async def let_membership_end(self) -> None:
        """A loop will end it in a moment."""
        ends = datetime.now(UTC) + timedelta(seconds=1)
        line = self._membership(self.members[0]["id"]) | {"ends_at": ends.isoformat(), "auto_renew": False}
        await self.system.import_lines([line], send_events=True)
        self.ending.append((line["id"], line["member_id"]))

    async def let_class_begin(self) -> None:
        """A loop expires its waitlist once it has begun."""
        start = datetime.now(UTC) + timedelta(seconds=2)
        line = self._class(self.random.choice(self.places)["id"], 1) | {"start_time": start.isoformat()}
        await self.system.import_lines([line], send_events=True)
        for member in self.members[:2]:
            reply = await self.partner.book(line["id"], member["id"], join_waitlist=True)
            if reply.status == 201 and reply.json()["status"] == "waitlisted":
                self.beginning.append(reply.json()["id"])

    async def loops_have_acted(self) -> bool:
        """On every membership and every waitlist that they had to."""
        for membership_id, member_id in self.ending:
            page = (await self.partner.get(f"/members/{member_id}/memberships", limit=200)).json()
            if any(row["id"] == membership_id and row["status"] == "active" for row in page["data"]):
                return False
        shown = [(await self.partner.get(f"/bookings/{booking_id}")).json() for booking_id in self.beginning]
        return all(row["status"] != "waitlisted" for row in shown)

    async def new_member(self) -> None:
        body = {"email": f"{new_id()}@example.com", "first_name": "New", "last_name": "Person"}
        await self.partner.post("/members", body)

    async def purchase(self) -> None:
        body = {"member_id": self.members[1]["id"], "product_id": self.catalog[2]["id"]}
        place = self.random.choice([None, *(place["id"] for place in self.places)])
        await self.staff("POST", "/purchases", body | {"location_id": place})

    async def new_lead(self) -> None:
        reply = await self.partner.post("/leads", {"email": f"{new_id()}@example.com", "first_name": "Lee"})
        self.leads.append(reply.json()["id"])

    async def patch_lead(self) -> None:
        body = {"first_name": self.random.choice(("Kim", "Lee")), "metadata": {"n": self.random.random()}}
        await self.partner.patch(f"/leads/{self.random.choice(self.leads)}", body)

    async def new_form(self) -> None:
        status = self.random.choice(("draft", "published", "published"))
        reply = await self.partner.post("/forms", {"title": f"Form {new_id()}", "status": status})
        self.forms.append(reply.json()["id"])

    async def change_form(self) -> None:
        status = self.random.choice(("published", "archived"))
        await self.partner.put(f"/forms/{self.random.choice(self.forms)}", {"status": status})

    async def submit(self) -> None:
        body = {"submitter_email": f"{new_id()}@example.com", "data": {}}
        path = f"/forms/{self.random.choice(self.forms)}/submissions"
        reply = await self.partner.post(path, body)
        if reply.status == 201:
            await self.staff("POST", f"{path}/{reply.json()['id']}/review")

    async def erase(self) -> None:
        if len(self.members) > 3 and self.random.random() < 0.3:
            await self.system.operator.post(f"/members/{self.members.pop(2)['id']}/erase")
        elif len(self.leads) > 1:
            await self.system.operator.post(f"/leads/{self.leads.pop()}/erase")
