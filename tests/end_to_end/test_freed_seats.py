"""A freed seat is never lost: however it is freed, imports included, the next on the waitlist gets it."""

from typing import Any

import msgspec
import pytest

from tests.harness.http import Client
from tests.harness.system import System
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.test_import import a_booking, an_entry


class House:
    """A class with its members, through the gateway's two ports."""

    def __init__(self, system: System, partner: Client, **fields: Any) -> None:
        self.system = system
        self.partner = partner
        self.class_ = a_class(**fields)
        self.people = [a_member() for _ in range(5)]

    async def load(self, *lines: Any) -> None:
        await self.system.import_lines(msgspec.to_builtins(lines))

    async def book(self, person: int, *, join: bool = True) -> Any:
        return await self.partner.book(self.class_["id"], self.people[person]["id"], join_waitlist=join)

    async def statuses(self) -> list[str]:
        page = (await self.partner.get("/bookings", class_id=self.class_["id"])).json()["data"]
        found = {row["member_id"]: row["status"] for row in page}
        return [found[person["id"]] for person in self.people if person["id"] in found]

    async def is_settled(self) -> None:
        """No seat is free while somebody waits, and a refused booking says so."""
        (shown,) = [
            row
            for row in (await self.partner.get("/classes")).json()["data"]
            if row["id"] == self.class_["id"]
        ]
        waiting = (await self.partner.get("/waitlist", class_id=self.class_["id"], status="waiting")).json()[
            "data"
        ]
        assert not (shown["available_count"] and waiting), (shown, waiting)
        assert sorted(entry["position"] for entry in waiting) == list(range(1, len(waiting) + 1))
        refused = await self.book(4, join=False)
        if refused.status == 409:
            details = refused.json()["error"]["details"]
            assert (refused.code, details["booked_count"] >= details["capacity"]) == ("class_full", True)
        else:
            assert (refused.status, shown["available_count"] > 0) == (201, True)


@pytest.fixture
async def house(system: System) -> House:
    house = House(system, system.partner(await system.key()), capacity=1)
    await house.load(house.class_, *house.people)
    return house


@pytest.mark.parametrize("status", ["cancelled", "no_show", "expired"])
async def test_an_import_that_ends_a_booking_gives_its_seat_to_the_first_who_waits(
    house: House, status: str
) -> None:
    """Once, and in the order of the waitlist."""
    held = [(await house.book(person)).json() for person in range(3)]
    await house.load(held[0] | {"status": status})
    assert await house.statuses() == [status, "confirmed", "waitlisted"]
    await house.is_settled()


async def test_an_import_that_takes_somebody_out_of_the_queue_keeps_it_whole(house: House) -> None:
    """The next in line gets the next seat."""
    held = [(await house.book(person)).json() for person in range(4)]
    await house.load(held[1] | {"status": "cancelled"})
    assert await house.statuses() == ["confirmed", "cancelled", "waitlisted", "waitlisted"]
    await house.load(held[0] | {"status": "cancelled"})
    assert await house.statuses() == ["cancelled", "cancelled", "confirmed", "waitlisted"]
    await house.is_settled()


@pytest.mark.parametrize("kind", ["entry", "booking"])
async def test_waiters_imported_into_a_class_with_free_seats_get_them(house: House, kind: str) -> None:
    """As many as there are seats, by position; the others keep waiting."""
    class_id = house.class_["id"]
    people = [person["id"] for person in house.people[:3]]
    entries = [an_entry(class_id, person, 3 - n) for n, person in enumerate(people)]
    bookings = [
        a_booking(class_id, person, status="waitlisted", waitlist_position=3 - n)
        for n, person in enumerate(people)
    ]
    await house.load(*(entries if kind == "entry" else bookings))
    assert await house.statuses() == ["waitlisted", "waitlisted", "confirmed"]
    await house.is_settled()


async def test_an_imported_capacity_seats_as_many_as_fit(house: House) -> None:
    """Also when the same import cancels a seat."""
    held = [(await house.book(person)).json() for person in range(4)]
    await house.load(
        house.class_ | {"capacity": 2},
        held[0] | {"status": "cancelled"},
    )
    assert await house.statuses() == ["cancelled", "confirmed", "confirmed", "waitlisted"]
    await house.is_settled()


async def test_who_may_not_book_any_more_is_passed_over(house: House) -> None:
    """A member who was suspended by the same import is skipped, and the next one is seated."""
    held = [(await house.book(person)).json() for person in range(3)]
    await house.load(held[0] | {"status": "cancelled"}, house.people[1] | {"suspended": True})
    assert await house.statuses() == ["cancelled", "cancelled", "confirmed"]
    entries = (await house.partner.get("/waitlist", class_id=house.class_["id"])).json()["data"]
    assert sorted(entry["status"] for entry in entries) == ["converted", "skipped"]
    await house.is_settled()
