"""Lists: order, cursors, filters, and what a location-limited key sees."""

from datetime import timedelta, timezone
from typing import Any

import pytest

from shared.wire import new_id
from tests.services.bookings.desk import Desk, a_class, a_member, a_product, a_purchase, soon

HERE, THERE = new_id(), new_id()


def located(*ids: str) -> list[dict[str, Any]]:
    return [
        {"object": "location", "id": id_, "name": "L", "city": "", "state": "", "timezone": "UTC"}
        for id_ in ids
    ]


async def full_house(desk: Desk) -> dict[str, Any]:
    """Classes here, there and nowhere, each with a seat taken and one waiting; purchases likewise."""
    people, product = [a_member() for _ in range(2)], a_product()
    classes = [
        a_class(location_id=place, start_time=soon(days=n + 1))
        for n, place in enumerate((HERE, THERE, None) * 2)
    ]
    purchases = [a_purchase(people[0]["id"], product, location_id=place) for place in (HERE, THERE, None)]
    await desk.loaded(*located(HERE, THERE), *people, product, *classes, *purchases)
    for class_ in classes:
        for person in people:
            assert (await desk.book(class_["id"], person["id"], join_waitlist=True)).status == 201
    return {"people": people, "classes": classes, "purchases": purchases}


@pytest.mark.parametrize("path", ["/classes", "/bookings", "/waitlist", "/purchases", "/members"])
async def test_pages_put_together_are_the_whole_list(desk: Desk, path: str) -> None:
    """Page by page with any limit: the same rows in the same order, also for a limited key."""
    await full_house(desk)
    for caller in (desk, desk.as_client(locations=(HERE,)), desk.as_client(locations=(HERE, THERE))):
        whole = (await caller.ok(path, limit=200))["data"]
        assert whole
        for limit in (1, 2, 3):
            assert await caller.all_of(path, limit=limit) == whole
    last = (await desk.ok(path, limit=200))["data"][-1]["id"]
    page = await desk.ok(path, cursor=last)
    assert (page["data"], page["has_more"], page["next_cursor"]) == ([], False, None)


@pytest.mark.parametrize("path", ["/classes", "/bookings", "/waitlist", "/purchases"])
async def test_a_limited_key_sees_its_locations_only(desk: Desk, path: str) -> None:
    """What lies elsewhere or nowhere is not listed, is 404 by its id, and is no cursor."""
    await full_house(desk)
    narrow = desk.as_client(locations=(HERE,))
    everything = await desk.all_of(path)
    mine = await narrow.all_of(path)
    assert 0 < len(mine) == len(everything) // 3
    hidden = [row["id"] for row in everything if row not in mine]
    for row_id in hidden:
        assert (await narrow.get(f"{path}/{row_id}")).status == 404
        assert (await narrow.get(path, cursor=row_id)).code == "invalid_cursor"
    assert await desk.as_client(locations=()).all_of(path) == []


async def test_a_limited_key_neither_books_nor_cancels_elsewhere(desk: Desk) -> None:
    """404, like the unknown."""
    house = await full_house(desk)
    narrow = desk.as_client(locations=(HERE,))
    elsewhere = house["classes"][1]
    newcomer = a_member()
    await desk.loaded(newcomer)
    reply = await narrow.book(elsewhere["id"], newcomer["id"])
    assert (reply.status, reply.json["error"]["param"]) == (404, "class_id")
    booking = (await desk.ok("/bookings", class_id=elsewhere["id"]))["data"][0]
    assert (await narrow.cancel(booking["id"])).status == 404
    assert (await narrow.get(f"/bookings/{booking['id']}/cancellation-preview")).status == 404
    body = {"class_id": elsewhere["id"], "member_id": newcomer["id"]}
    assert (await narrow.call("POST", "/bookings/preview", body)).status == 404


async def test_a_class_that_moves_takes_its_bookings_along(desk: Desk) -> None:
    """By staff or by the import: list and single reads of a limited key follow the class."""
    house = await full_house(desk)
    class_ = house["classes"][1]
    narrow = desk.as_client(locations=(HERE,))

    async def seen() -> int:
        rows = [await narrow.all_of(path, class_id=class_["id"]) for path in ("/bookings", "/waitlist")]
        return len(rows[0]) + len(rows[1])

    assert await seen() == 0
    await desk.staff.call("PATCH", f"/staff/classes/{class_['id']}", {"location_id": HERE})
    assert await seen() == 3
    await desk.loaded(class_)
    assert await seen() == 0


async def test_filters_narrow_and_can_be_joined(desk: Desk) -> None:
    """class, member and status; for classes location, status and times."""
    house = await full_house(desk)
    class_, person = house["classes"][0]["id"], house["people"][1]["id"]
    for caller in (desk, desk.as_client(locations=(HERE,))):
        (row,) = await caller.all_of("/bookings", class_id=class_, member_id=person, status="waitlisted")
        assert (row["class_id"], row["member_id"]) == (class_, person)
        assert await caller.all_of("/bookings", class_id=class_, status="expired") == []
        assert {row["status"] for row in await caller.all_of("/bookings", status="confirmed")} == {
            "confirmed"
        }
        assert len(await caller.all_of("/classes", location_id=HERE, status="scheduled")) == 2
        assert await caller.all_of("/classes", status="cancelled") == []
        assert len(await caller.all_of("/purchases", member_id=house["people"][0]["id"])) in (1, 3)
    assert (await desk.get("/bookings", status="nonsense")).status == 422


async def test_a_location_that_the_key_may_not_see_is_not_found(desk: Desk) -> None:
    """Unknown, another studio's or not permitted: the same 404 apart from the request id."""
    await desk.loaded(*located(HERE, THERE))
    narrow = desk.as_client(locations=(HERE,))
    bodies = []
    for caller, place in ((narrow, THERE), (narrow, new_id()), (desk, new_id())):
        reply = await caller.get("/classes", location_id=place)
        assert reply.status == 404
        error = reply.json["error"]
        error.pop("request_id")
        bodies.append(error)
    assert bodies[0] == bodies[1] == bodies[2]


async def test_time_filters_take_any_offset_and_want_one(desk: Desk) -> None:
    """`starts_after` is inclusive, `starts_before` exclusive, in whatever offset the instant is told."""
    start = soon(days=2).replace(microsecond=0)
    await desk.loaded(a_class(start_time=start), a_class(start_time=start + timedelta(hours=1)))
    for hours in (-8, 0, 5.75, 14):
        local = start.astimezone(_offset(hours))
        after = await desk.all_of("/classes", starts_after=local.isoformat())
        before = await desk.all_of("/classes", starts_before=local.isoformat())
        assert (len(after), len(before)) == (2, 0)
        later = (local + timedelta(seconds=1)).isoformat()
        assert len(await desk.all_of("/classes", starts_after=later)) == 1
        assert len(await desk.all_of("/classes", starts_before=later)) == 1
    assert (await desk.get("/classes", starts_after="2026-03-08T12:00:00")).status == 422


def _offset(hours: float) -> Any:
    return timezone(timedelta(hours=hours))


@pytest.mark.parametrize("cursor", ["nonsense", "11111111-1111-4111-8111-111111111111"])
async def test_a_cursor_that_the_list_did_not_give_is_400(desk: Desk, cursor: str) -> None:
    """No uuid, or no row of this studio."""
    for path in ("/classes", "/bookings", "/waitlist", "/purchases", "/members"):
        reply = await desk.get(path, cursor=cursor)
        assert (reply.status, reply.code) == (400, "invalid_cursor")


async def test_another_studios_ids_are_unknown_here(desk: Desk) -> None:
    """Nothing is read, booked or cancelled across studios."""
    house = await full_house(desk)
    other = Desk.of_new_studio(desk.service)
    paths = ["/classes", "/bookings", "/waitlist", "/purchases", "/members"]
    for path in paths:
        row = (await desk.ok(path))["data"][0]["id"]
        assert (await other.get(f"{path}/{row}")).status == 404
        assert (await other.ok(path))["data"] == []
    mine = a_member()
    await other.loaded(mine)
    assert (await other.book(house["classes"][0]["id"], mine["id"])).status == 404
    foreign = await other.load(
        {
            "object": "booking",
            "id": new_id(),
            "class_id": house["classes"][0]["id"],
            "member_id": mine["id"],
            "status": "confirmed",
        }
    )
    assert len(foreign["rejected"]) == 1
