"""A studio at midday, whatever the time is, with a class that is about to begin and people who book it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from playwright.async_api import Locator

from tests.harness import import_lines
from tests.harness.browser import Tab
from tests.harness.console_pages import sign_in
from tests.harness.eventually import eventually
from tests.harness.http import Client, created
from tests.harness.system import System

NAMES = (
    "Ada King",
    "Bo Okafor",
    "Cleo Larsen",
    "Dana Moreau",
    "Eli Nguyen",
    "Fay Patel",
    "Gus Quispe",
    "Hana Tanaka",
)


class FrontDesk(Struct):
    """`members` are by their name. The API's calls are those of the operator."""

    system: System
    studio_id: str
    class_id: str
    members: dict[str, str]
    api: Client

    async def book(self, *names: str, class_id: str | None = None) -> list[str]:
        """Those who find no seat wait."""
        body = {"class_id": class_id or self.class_id, "join_waitlist": True}
        path = f"/studios/{self.studio_id}/bookings"
        made = [
            created(await self.api.post(path, body | {"member_id": self.members[name]})) for name in names
        ]
        return [str(one["id"]) for one in made]

    async def add_class(self, title: str, minutes: int, **fields: Any) -> str:
        """It begins in so many minutes."""
        line = import_lines.class_(start_time=datetime.now(UTC) + timedelta(minutes=minutes), title=title)
        await self.system.import_lines([line | {"capacity": 8, "credit_cost": 0} | fields], self.studio_id)
        return str(line["id"])

    async def status_of(self, booking_id: str) -> str:
        response = await self.api.get(f"/studios/{self.studio_id}/bookings/{booking_id}")
        return str(response.json()["status"])

    async def token(self, role: str, name: str = "Mara") -> str:
        path = f"/studios/{self.studio_id}/staff-tokens"
        return str((await self.api.create(path, {"name": name, "role": role}))["token"])

    async def open(self, tab: Tab, role: str = "staff") -> None:
        """Signed in with a new token of this role."""
        await sign_in(tab, self.system.running.operator_url, await self.token(role))


def midday_zone() -> str:
    """The zone in which it is between noon and one o'clock."""
    return zone_in_which_it_is(12)


def zone_in_which_it_is(hour: int) -> str:
    """Between this hour, of noon to two, and the next. The names of these zones count westwards."""
    hours = hour - datetime.now(UTC).hour
    return f"Etc/GMT{-hours:+d}" if hours else "Etc/GMT"


async def front_desk(system: System, *, seats: int = 8, minutes: int = 10) -> FrontDesk:
    """Power Yoga in so many minutes, in the Main Floor with Maya; nobody has booked yet."""
    studio_id = await system.new_studio(timezone=midday_zone(), name="Northlight")
    # Cancelling late costs a fee.
    policy = {"late_window_minutes": 720, "late_fee_amount": "5.00", "late_fee_currency": "EUR"}
    studio = (await system.operator.get(f"/studios/{studio_id}")).json()
    named = {name: studio[name] for name in ("object", "id", "name", "slug", "timezone")}
    await system.import_lines([named | policy | {"forfeit_credit": True}])
    place = import_lines.location(name="Brooklyn", timezone=midday_zone())
    room = import_lines.room(place["id"], name="Main Floor")
    kind = import_lines.class_type(name="Power Yoga")
    coach = import_lines.instructor(name="Maya")
    product = import_lines.product()
    start = datetime.now(UTC) + timedelta(minutes=minutes)
    lesson = import_lines.class_(start_time=start, title="Power Yoga", capacity=seats, credit_cost=0)
    lesson |= {"location_id": place["id"], "room_id": room["id"]}
    lesson |= {"class_type_id": kind["id"], "instructor_id": coach["id"]}
    people = [
        import_lines.member(first_name=first, last_name=last, email=f"{first.lower()}@example.com")
        for first, last in (name.split() for name in NAMES)
    ]
    cards = [import_lines.membership(one["id"], product["id"], state_version=1) for one in people]
    lines = [place, room, kind, coach, product, lesson, *people, *cards]
    await system.import_lines(lines, studio_id)
    members = {name: one["id"] for name, one in zip(NAMES, people, strict=True)}
    return FrontDesk(system, studio_id, lesson["id"], members, system.operator)


def check_in(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("button", name=f"Check in {name}")


def roster(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Roster").locator("li strong")


def toast(tab: Tab) -> Locator:
    return tab.page.locator(".toast")


async def becomes(desk: FrontDesk, booking_id: str, status: str) -> None:
    async def is_so() -> bool:
        return await desk.status_of(booking_id) == status

    await eventually(is_so)
