"""Lists: order, cursors, filters, and what a location-limited key sees."""

from datetime import timedelta, timezone
from itertools import product
from typing import Any

import pytest

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking

HERE, THERE = new_id(), new_id()
PATHS = ("/classes", "/bookings", "/waitlist", "/purchases", "/members")


def located(*ids: str) -> list[dict[str, Any]]:
    return [
        {"object": "location", "id": id_, "name": "L", "city": "", "state": "", "timezone": "UTC"}
        for id_ in ids
    ]


async def full_house(client: StudioClient) -> dict[str, Any]:
    """Classes here, there and nowhere, each with a seat taken and one waiting; purchases likewise."""
    people, pack = [a_member() for _ in range(2)], a_product()
    classes = [
        a_class(location_id=place, start_time=soon(days=n + 1))
        for n, place in enumerate((HERE, THERE, None) * 2)
    ]
    purchases = [a_purchase(people[0]["id"], pack, location_id=place) for place in (HERE, THERE, None)]
    await client.import_all(*located(HERE, THERE), *people, pack, *classes, *purchases)
    for class_ in classes:
        for person in people:
            assert (await client.book(class_["id"], person["id"], join_waitlist=True)).status == 201
    return {"people": people, "classes": classes, "purchases": purchases}


@pytest.mark.parametrize("path", PATHS)
async def test_pages_put_together_are_the_whole_list(client: StudioClient, path: str) -> None:
    """Page by page with any limit: the same rows in the same order, also for a limited key."""
    await full_house(client)
    for caller in (client, client.with_key(locations=(HERE,)), client.with_key(locations=(HERE, THERE))):
        whole = (await caller.get_ok(path, limit=200))["data"]
        assert whole
        for limit in (1, 2, 3):
            assert await caller.list_all(path, limit=limit) == whole
        exact = await caller.get_ok(path, limit=len(whole))
        assert (exact["object"], exact["has_more"], exact["next_cursor"]) == ("list", False, None)
        beyond = await caller.get_ok(path, cursor=whole[-1]["id"])
        assert (beyond["data"], beyond["has_more"], beyond["next_cursor"]) == ([], False, None)


@pytest.mark.parametrize("path", ["/classes", "/bookings", "/waitlist", "/purchases"])
async def test_a_limited_key_sees_its_locations_only(client: StudioClient, path: str) -> None:
    """Rows at other locations or at none are not listed, are 404 by id, and are refused as a cursor."""
    await full_house(client)
    narrow = client.with_key(locations=(HERE,))
    everything = await client.list_all(path)
    mine = await narrow.list_all(path)
    assert 0 < len(mine) == len(everything) // 3
    hidden = [row["id"] for row in everything if row not in mine]
    for row_id in hidden:
        assert (await narrow.get(f"{path}/{row_id}")).status == 404
        assert (await narrow.get(path, cursor=row_id)).code == "invalid_cursor"
    assert await client.with_key(locations=()).list_all(path) == []


async def test_a_limited_key_neither_books_nor_cancels_elsewhere(client: StudioClient) -> None:
    """404, as for an unknown id."""
    house = await full_house(client)
    narrow = client.with_key(locations=(HERE,))
    elsewhere = house["classes"][1]
    newcomer = a_member()
    await client.import_all(newcomer)
    reply = await narrow.book(elsewhere["id"], newcomer["id"])
    assert (reply.status, reply.json["error"]["param"]) == (404, "class_id")
    booking = (await client.get_ok("/bookings", class_id=elsewhere["id"]))["data"][0]
    assert (await narrow.cancel(booking["id"])).status == 404
    assert (await narrow.get(f"/bookings/{booking['id']}/cancellation-preview")).status == 404
    body = {"class_id": elsewhere["id"], "member_id": newcomer["id"]}
    assert (await narrow.call("POST", "/bookings/preview", body)).status == 404


async def test_a_class_that_changes_location_moves_its_bookings_too(client: StudioClient) -> None:
    """By staff or by the import: list and single reads of a limited key follow the class."""
    house = await full_house(client)
    class_ = house["classes"][1]
    narrow = client.with_key(locations=(HERE,))

    async def seen() -> int:
        rows = [await narrow.list_all(path, class_id=class_["id"]) for path in ("/bookings", "/waitlist")]
        return len(rows[0]) + len(rows[1])

    assert await seen() == 0
    await client.staff.call("PATCH", f"/staff/classes/{class_['id']}", {"location_id": HERE})
    assert await seen() == 3
    await client.import_all(class_)
    assert await seen() == 0


async def test_purchases_are_filtered_by_member(client: StudioClient) -> None:
    """The filters of classes, members and bookings are in test_list_filters.py. Nonsense is 422."""
    buyer, other = (await full_house(client))["people"]
    for caller, count in ((client, 3), (client.with_key(locations=(HERE,)), 1)):
        assert len(await caller.list_all("/purchases", member_id=buyer["id"])) == count
        assert await caller.list_all("/purchases", member_id=other["id"]) == []
    assert (await client.get("/bookings", status="nonsense")).status == 422


async def test_a_location_that_the_key_may_not_see_is_not_found(client: StudioClient) -> None:
    """Unknown, another studio's or not permitted: the same 404 apart from the request id."""
    await client.import_all(*located(HERE, THERE))
    narrow = client.with_key(locations=(HERE,))
    bodies = []
    for caller, place in ((narrow, THERE), (narrow, new_id()), (client, new_id())):
        reply = await caller.get("/classes", location_id=place)
        assert reply.status == 404
        error = reply.json["error"]
        error.pop("request_id")
        bodies.append(error)
    assert bodies[0] == bodies[1] == bodies[2]


async def test_time_filters_need_an_offset_and_accept_any(client: StudioClient) -> None:
    """`starts_after` is inclusive, `starts_before` exclusive, whatever the offset of the instant."""
    start = soon(days=2).replace(microsecond=0)
    await client.import_all(a_class(start_time=start), a_class(start_time=start + timedelta(hours=1)))
    for hours in (-8, 0, 5.75, 14):
        local = start.astimezone(timezone(timedelta(hours=hours)))
        after = await client.list_all("/classes", starts_after=local.isoformat())
        before = await client.list_all("/classes", starts_before=local.isoformat())
        assert (len(after), len(before)) == (2, 0)
        later = (local + timedelta(seconds=1)).isoformat()
        assert len(await client.list_all("/classes", starts_after=later)) == 1
        assert len(await client.list_all("/classes", starts_before=later)) == 1
    assert (await client.get("/classes", starts_after="2026-03-08T12:00:00")).status == 422


async def test_an_unknown_cursor_is_400(client: StudioClient) -> None:
    """Not a uuid, or not a row of this studio."""
    for path, cursor in product(PATHS, ("nonsense", new_id())):
        reply = await client.get(path, cursor=cursor)
        assert (reply.status, reply.code) == (400, "invalid_cursor")


async def test_another_studios_ids_are_unknown_here(client: StudioClient) -> None:
    """Nothing is read, booked or cancelled across studios, by partners or staff."""
    house = await full_house(client)
    other = StudioClient.for_new_studio(client.service)
    for path in PATHS:
        row = (await client.get_ok(path))["data"][0]["id"]
        assert (await other.get(f"{path}/{row}")).status == 404
        assert (await other.get_ok(path))["data"] == []
    booking = (await client.get_ok("/bookings"))["data"][0]["id"]
    for path in (
        f"/classes/{house['classes'][0]['id']}/roster",
        f"/members/{house['people'][0]['id']}",
        f"/bookings/{booking}",
    ):
        assert (await other.staff.get(f"/staff{path}")).status == 404
    assert (await other.staff.get_ok("/staff/members"))["data"] == []
    assert (await other.staff.call("POST", f"/staff/bookings/{booking}/cancel", {})).status == 404
    mine = a_member()
    await other.import_all(mine)
    assert (await other.book(house["classes"][0]["id"], mine["id"])).status == 404
    foreign = await other.import_lines(a_booking(house["classes"][0]["id"], mine["id"]))
    assert len(foreign["rejected"]) == 1
