"""Lists: order, cursors, filters, and what a location-limited key sees."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import chain, combinations, product
from typing import Any

import pytest

from services.bookings.wire.bookings import MAX_CLASSES_IN_RANGE
from shared.wire import new_id
from tests.harness import import_lines
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking

HERE, THERE = new_id(), new_id()
PATHS = ("/classes", "/bookings", "/waitlist", "/purchases", "/members")


def located(*ids: str) -> list[dict[str, Any]]:
    return [import_lines.location(id=id_, timezone="UTC") for id_ in ids]


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


async def test_pages_put_together_are_the_whole_list(client: StudioClient) -> None:
    """Page by page with any limit: the same rows in the same order, also for a limited key."""
    await full_house(client)
    callers = (client, client.with_key(locations=(HERE,)), client.with_key(locations=(HERE, THERE)))
    for path, caller in product(PATHS, callers):
        whole = (await caller.get_ok(path, limit=200))["data"]
        assert whole
        for limit in (1, 2, 3):
            assert await caller.list_all(path, limit=limit) == whole
        exact = await caller.get_ok(path, limit=len(whole))
        assert (exact["object"], exact["has_more"], exact["next_cursor"]) == ("list", False, None)
        beyond = await caller.get_ok(path, cursor=whole[-1]["id"])
        assert (beyond["data"], beyond["has_more"], beyond["next_cursor"]) == ([], False, None)
        for cursor in ("nonsense", new_id()):
            reply = await caller.get(path, cursor=cursor)
            assert (reply.status, reply.code) == (400, "invalid_cursor")


async def test_a_limited_key_sees_its_locations_only(client: StudioClient) -> None:
    """Rows at other locations or at none are not listed, are 404 by id, and are refused as a cursor."""
    await full_house(client)
    narrow = client.with_key(locations=(HERE,))
    for path in ("/classes", "/bookings", "/waitlist", "/purchases"):
        everything, mine = await client.list_all(path), await narrow.list_all(path)
        assert 0 < len(mine) == len(everything) // 3
        for row in everything:
            if row not in mine:
                assert (await narrow.get(f"{path}/{row['id']}")).status == 404
                assert (await narrow.get(path, cursor=row["id"])).code == "invalid_cursor"
        assert await client.with_key(locations=()).list_all(path) == []


async def test_a_limited_key_neither_books_nor_cancels_elsewhere(client: StudioClient) -> None:
    """404, as for an unknown id."""
    house = await full_house(client)
    narrow, newcomer = client.with_key(locations=(HERE,)), a_member()
    elsewhere = house["classes"][1]
    await client.import_all(newcomer)
    reply = await narrow.book(elsewhere["id"], newcomer["id"])
    assert (reply.status, reply.json["error"]["param"]) == (404, "class_id")
    booking = (await client.get_ok("/bookings", class_id=elsewhere["id"]))["data"][0]
    assert (await narrow.cancel(booking["id"])).status == 404
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
    await client.change_class(class_, location_id=HERE)
    assert await seen() == 3
    await client.import_all(class_)
    assert await seen() == 0


async def test_purchases_are_filtered_by_member(client: StudioClient) -> None:
    """Also for a limited key. Nonsense is 422."""
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


async def test_another_studios_ids_are_unknown_here(client: StudioClient) -> None:
    """Also to staff, in a booking and in an import. `test_access_table.py` asks for them by every route."""
    house = await full_house(client)
    other, mine = StudioClient.for_new_studio(client.service), a_member()
    booking, class_id = (await client.get_ok("/bookings"))["data"][0]["id"], house["classes"][0]["id"]
    for path in PATHS:
        assert (await other.get_ok(path))["data"] == []
    for path in (
        f"/classes/{class_id}/roster",
        f"/members/{house['people'][0]['id']}",
        f"/bookings/{booking}",
    ):
        assert (await other.staff.get(f"/staff{path}")).status == 404
    assert (await other.staff.get_ok("/staff/members"))["data"] == []
    assert (await other.staff.call("POST", f"/staff/bookings/{booking}/cancel", {})).status == 404
    await other.import_all(mine)
    assert (await other.book(class_id, mine["id"])).status == 404
    assert len((await other.import_lines(a_booking(class_id, mine["id"])))["rejected"]) == 1


def subsets(values: dict[str, Any]) -> list[dict[str, Any]]:
    names = chain.from_iterable(combinations(values, count) for count in range(len(values) + 1))
    return [{name: values[name] for name in chosen} for chosen in names]


def fits(row: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """What the filters say, in plain words."""
    start = datetime.fromisoformat(row["start_time"])
    own: dict[str, Callable[[Any], bool]] = {
        "ids": lambda ids: row["id"] in ids.split(","),
        "starts_after": lambda moment: start >= moment,
        "starts_before": lambda moment: start < moment,
    }
    return all(own[name](value) if name in own else row[name] == value for name, value in chosen.items())


@pytest.mark.timeout(180)
async def test_every_combination_of_class_filters_is_the_filtered_list(client: StudioClient) -> None:
    """Page by page; a part of them for keys with one location and with two. Classes of no location too."""
    chance = random.Random(17)
    teachers, types, rooms = ([new_id(), new_id(), None] for _ in range(3))
    classes = [
        a_class(
            location_id=chance.choice((HERE, THERE, None)),
            instructor_id=chance.choice(teachers),
            class_type_id=chance.choice(types),
            room_id=chance.choice(rooms),
            status=chance.choice(("scheduled", "completed", "cancelled")),
            start_time=soon(hours=chance.randrange(1, 60)),
        )
        for _ in range(120)
    ]
    await client.import_all(*located(HERE, THERE), *classes)
    some = ",".join([*(class_["id"] for class_ in chance.sample(classes, 60)), new_id()])
    filters = {
        "instructor_id": teachers[0],
        "class_type_id": types[0],
        "room_id": rooms[0],
        "location_id": HERE,
        "status": "scheduled",
        "ids": some,
        "starts_after": soon(hours=10),
        "starts_before": soon(hours=50),
    }
    every = subsets(filters)
    for caller, combined in (
        (client, every),
        (client.with_key(locations=(HERE,)), chance.sample(every, 60)),
        (client.with_key(locations=(HERE, THERE)), chance.sample(every, 60)),
    ):
        whole = await caller.list_all("/classes", limit=200)
        for chosen in combined:
            expected = [row for row in whole if fits(row, chosen)]
            assert await caller.list_all("/classes", limit=chance.choice((9, 200)), **chosen) == expected


async def test_ids_read_up_to_a_hundred_classes_in_one_call(client: StudioClient) -> None:
    """In any order and case. Unknown ids and other locations' are left out. 100 rows by default."""
    classes = [a_class(location_id=HERE if n else THERE) for n in range(100)]
    await client.import_all(*located(HERE, THERE), *classes)
    ids = [class_["id"] for class_ in reversed(classes)]
    page = await client.get_ok("/classes", ids=",".join(ids))
    assert ({row["id"] for row in page["data"]}, page["has_more"]) == (set(ids), False)
    few = await client.get_ok("/classes", ids=",".join([ids[0].upper(), ids[0], new_id()]))
    assert [row["id"] for row in few["data"]] == [ids[0]]
    limited = await client.with_key(locations=(THERE,)).get_ok("/classes", ids=",".join(ids))
    assert [row["id"] for row in limited["data"]] == [classes[0]["id"]]
    short = await client.get_ok("/classes", ids=",".join(ids), limit=3)
    assert (len(short["data"]), short["has_more"]) == (3, True)
    assert len(await client.list_all("/classes", ids=",".join(ids), limit=3)) == 100


async def test_malformed_ids_and_more_than_a_hundred_are_422(client: StudioClient) -> None:
    """Like any malformed id. The work for a request stays bounded."""
    one = new_id()
    for ids in ("", ",", "x", f"{one},", f"{one};{one}", f"{one}\n", ",".join(new_id() for _ in range(101))):
        reply = await client.get("/classes", ids=ids)
        assert (reply.status, reply.json["detail"][0]["loc"]) == (422, ["query", "ids"]), ids


async def test_a_member_is_found_by_email_however_it_is_written(client: StudioClient) -> None:
    """Normalized as on creation: trimmed, lower-cased, the domain in ASCII. An unknown one matches nobody."""
    ada, zoe = a_member(email="ada@example.com"), a_member(email="zoe@xn--bcher-kva.example")
    await client.import_all(ada, zoe, a_member())
    for written, member in ((" Ada@Example.COM ", ada), ("zoe@BÜCHER.example", zoe)):
        page = await client.get_ok("/members", email=written)
        assert [row["id"] for row in page["data"]] == [member["id"]]
    assert (await client.get_ok("/members", email="nobody@example.com"))["data"] == []
    stranger = StudioClient.for_new_studio(client.service)
    assert (await stranger.get_ok("/members", email="ada@example.com"))["data"] == []
    refused = await client.get("/members", email="no email")
    assert (refused.status, refused.json["detail"][0]["loc"]) == (422, ["query", "email"])


async def test_bookings_are_found_by_the_start_of_their_class(client: StudioClient) -> None:
    """Every combination with class, member and status, page by page, in the order of the bookings."""
    chance = random.Random(4)
    people = [a_member() for _ in range(4)]
    classes = [
        a_class(location_id=chance.choice((HERE, THERE, None)), start_time=soon(hours=5 * n + 1), capacity=2)
        for n in range(10)
    ]
    await client.import_all(*located(HERE, THERE), *people, *classes)
    pairs = [(class_["id"], person["id"]) for class_ in classes for person in people]
    chance.shuffle(pairs)
    for class_id, member_id in pairs:
        assert (await client.book(class_id, member_id, join_waitlist=True)).status == 201
    starts = {class_["id"]: {"start_time": class_["start_time"].isoformat()} for class_ in classes}
    filters = {
        "class_id": classes[3]["id"],
        "member_id": people[0]["id"],
        "status": "waitlisted",
        "starts_after": classes[2]["start_time"],
        "starts_before": classes[7]["start_time"],
    }
    for caller in (client, client.with_key(locations=(HERE,)), client.with_key(locations=(HERE, THERE))):
        whole = await caller.list_all("/bookings", limit=200)
        for chosen in subsets(filters):
            expected = [row for row in whole if fits(row | starts[row["class_id"]], chosen)]
            assert await caller.list_all("/bookings", limit=chance.choice((3, 200)), **chosen) == expected


async def test_a_range_that_holds_too_many_classes_is_refused(client: StudioClient) -> None:
    """A page would read each of them. One member's bookings can still be listed over any range."""
    person = a_member()
    classes = [a_class(start_time=soon(minutes=n + 1)) for n in range(MAX_CLASSES_IN_RANGE + 1)]
    await client.import_all(person, *classes[:500])
    await client.import_all(*classes[500:])
    refused = await client.get("/bookings", starts_after=soon(minutes=0))
    assert (refused.status, refused.json["detail"][0]["type"]) == (422, "range_too_wide")
    assert (await client.get("/bookings", starts_after=soon(minutes=5))).status == 200
    assert (await client.get("/bookings", starts_after=soon(minutes=0), member_id=person["id"])).status == 200
