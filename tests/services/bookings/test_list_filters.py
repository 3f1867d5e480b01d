"""The filters of classes, members and bookings: each combination gives the whole list, filtered."""

import random
from datetime import datetime
from itertools import chain, combinations
from typing import Any

import pytest

from services.bookings.wire.bookings import MAX_CLASSES_IN_RANGE
from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_lists import HERE, THERE, located

Row = dict[str, Any]


def subsets(values: dict[str, Any]) -> list[dict[str, Any]]:
    names = chain.from_iterable(combinations(values, count) for count in range(len(values) + 1))
    return [{name: values[name] for name in chosen} for chosen in names]


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def fits(row: Row, chosen: dict[str, Any]) -> bool:
    """What the filters say, in plain words."""
    start = instant(row["start_time"])
    ranged = (
        chosen.get("starts_after", start)
        <= start
        < chosen.get("starts_before", datetime.max).replace(tzinfo=start.tzinfo)
    )
    wanted = row["id"] in chosen["ids"].split(",") if "ids" in chosen else True
    equal = {
        name: value for name, value in chosen.items() if name not in ("ids", "starts_after", "starts_before")
    }
    return ranged and wanted and all(row[name] == value for name, value in equal.items())


@pytest.mark.timeout(180)
async def test_every_combination_of_class_filters_is_the_filtered_list(client: StudioClient) -> None:
    """Page by page, for a key without limits, with one location and with two; classes of no location too."""
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
    for caller in (client, client.with_key(locations=(HERE,)), client.with_key(locations=(HERE, THERE))):
        whole = await caller.list_all("/classes", limit=200)
        for chosen in subsets(filters):
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
    starts = {class_["id"]: class_["start_time"] for class_ in classes}
    first, last = starts[classes[2]["id"]], starts[classes[7]["id"]]
    others = {"class_id": classes[3]["id"], "member_id": people[0]["id"], "status": "waitlisted"}
    for caller in (client, client.with_key(locations=(HERE,)), client.with_key(locations=(HERE, THERE))):
        whole = await caller.list_all("/bookings", limit=200)
        for chosen in subsets(others):
            mine = [row for row in whole if all(row[name] == value for name, value in chosen.items())]
            for after, before in ((first, last), (first, None), (None, last)):
                expected = [
                    row
                    for row in mine
                    if (after is None or starts[row["class_id"]] >= after)
                    and (before is None or starts[row["class_id"]] < before)
                ]
                ranged = {"starts_after": after, "starts_before": before}
                for limit in (3, 200):
                    assert await caller.list_all("/bookings", limit=limit, **ranged, **chosen) == expected


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
