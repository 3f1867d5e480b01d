"""The catalog's reads, through the gateway."""

from typing import Any

import pytest

from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.system import System


async def test_the_studio_is_the_keys_own(system: System) -> None:
    """Every tabulated field is present; what has no value is null."""
    response = await system.partner(await system.key(["studio:read"])).get("/studio")
    body = response.json()
    assert response.status == 200
    assert body["id"] == system.studio_id
    assert list(body) == ["id", "object", "name", "slug", "timezone", "logo_url", "primary_color"]
    assert (body["object"], body["timezone"], body["logo_url"]) == ("studio", "America/New_York", None)


async def test_what_is_imported_is_what_is_read(system: System) -> None:
    """Wire form in, the same wire form out: no field is lost or renamed."""
    place = import_lines.location()
    data = [
        place,
        import_lines.room(place["id"]),
        import_lines.class_type(description="A calm hour"),
        import_lines.instructor(tags=["yoga", "düz"]),
        import_lines.product(prices=[import_lines.price(default=False, amount="9.90"), import_lines.price()]),
    ]
    await system.import_lines(data)
    client = system.partner(await system.key())
    for path, line in zip(
        ("locations", "rooms", "class-types", "instructors", "products"), data, strict=True
    ):
        one = (await client.get(f"/{path}/{line['id']}")).json()
        listed = (await client.get(f"/{path}")).json()
        expected = dict(line)
        if path == "products":
            expected["prices"] = [line["prices"][1], line["prices"][0]]  # the default one first
        assert one == expected
        assert listed == {"object": "list", "data": [one], "has_more": False, "next_cursor": None}


async def test_importing_again_changes_and_does_not_double(system: System) -> None:
    """An upsert by id: the list keeps its order and length, and a missing price is deleted."""
    product = import_lines.product(prices=[import_lines.price(), import_lines.price(default=False)])
    await system.import_lines([product])
    changed = product | {"name": "Renamed", "prices": product["prices"][:1]}
    await system.import_lines([changed])
    client = system.partner(await system.key())
    assert (await client.get("/products")).json()["data"] == [changed]


async def test_only_active_instructors_are_listed_but_all_can_be_read(system: System) -> None:
    """Past classes refer to instructors who have left."""
    here, gone = import_lines.instructor(), import_lines.instructor(active=False)
    await system.import_lines([here, gone])
    client = system.partner(await system.key())
    listed = (await client.get("/instructors")).json()["data"]
    assert [one["id"] for one in listed] == [here["id"]]
    assert (await client.get(f"/instructors/{gone['id']}")).json()["id"] == gone["id"]


async def test_products_are_filtered_by_exactly_the_value(system: System) -> None:
    """active defaults to true; false shows the inactive ones and no others."""
    on, off = import_lines.product(), import_lines.product(active=False)
    await system.import_lines([on, off])
    client = system.partner(await system.key())
    for query, expected in (({}, on), ({"active": True}, on), ({"active": False}, off)):
        listed = (await client.get("/products", **query)).json()["data"]
        assert [one["id"] for one in listed] == [expected["id"]]


async def test_a_limited_key_sees_only_its_locations(system: System) -> None:
    """Locations and rooms elsewhere are 404 by id, absent in lists, and 404 as a filter."""
    mine, other = import_lines.location(name="Mine"), import_lines.location(name="Other")
    rooms = [import_lines.room(mine["id"]), import_lines.room(other["id"])]
    await system.import_lines([mine, other, *rooms])
    client = system.partner(await system.key(locations=[mine["id"]]))
    for path in ("/locations", "/rooms"):
        assert len((await client.get(path)).json()["data"]) == 1
    assert (await client.get(f"/rooms/{rooms[0]['id']}")).status == 200
    for path in (
        f"/locations/{other['id']}",
        f"/rooms/{rooms[1]['id']}",
        f"/rooms?location_id={other['id']}",
    ):
        assert (await client.get(path)).code == "not_found"
    everyone = system.partner(await system.key())
    filtered = (await everyone.get("/rooms", location_id=other["id"])).json()["data"]
    assert [room["id"] for room in filtered] == [rooms[1]["id"]]
    assert (await everyone.get("/rooms", location_id=new_id())).code == "not_found"


async def test_the_three_kinds_of_404_are_the_same_bytes(system: System) -> None:
    """Unknown, another studio's and not permitted give the same answer, apart from the request id."""
    hidden = import_lines.location()
    await system.import_lines([hidden])
    other_studio = await system.new_studio()
    foreign = import_lines.location()
    await system.import_lines([foreign], studio=other_studio)
    visible = import_lines.location()
    await system.import_lines([visible])
    client = system.partner(await system.key(locations=[visible["id"]]))
    same = {"X-Request-Id": "the-same"}
    responses = [
        await client.get(f"/locations/{one}", headers=same) for one in (new_id(), foreign["id"], hidden["id"])
    ]
    assert [response.status for response in responses] == [404, 404, 404]
    assert len({response.body for response in responses}) == 1


@pytest.mark.parametrize("path", ["/locations", "/rooms", "/class-types", "/instructors", "/products"])
async def test_pages_join_without_gap_or_repeat(system: System, path: str) -> None:
    """Following next_cursor gives every row once, in the order of creation."""
    place = import_lines.location()
    made: dict[str, list[dict[str, Any]]] = {
        "/locations": [place, *(import_lines.location() for _ in range(6))],
        "/rooms": [import_lines.room(place["id"]) for _ in range(7)],
        "/class-types": [import_lines.class_type() for _ in range(7)],
        "/instructors": [import_lines.instructor() for _ in range(7)],
        "/products": [import_lines.product() for _ in range(7)],
    }
    await system.import_lines([place])
    for line in made[path]:
        await system.import_lines([line])
    client = system.partner(await system.key())
    seen: list[str] = []
    cursor = None
    while True:
        page = (await client.get(path, limit=3, cursor=cursor)).json()
        seen += [row["id"] for row in page["data"]]
        cursor = page["next_cursor"]
        assert page["has_more"] == (cursor is not None)
        if cursor is None:
            break
        assert cursor == page["data"][-1]["id"]
    assert seen == [line["id"] for line in made[path]]


async def test_a_row_that_left_the_filter_still_marks_its_place(system: System) -> None:
    """The cursor's row is found ignoring the filters, so a page boundary that changes loses nothing."""
    products = [import_lines.product() for _ in range(4)]
    for product in products:
        await system.import_lines([product])
    client = system.partner(await system.key())
    page = (await client.get("/products", limit=2)).json()
    await system.import_lines([products[1] | {"active": False}])
    rest = (await client.get("/products", limit=2, cursor=page["next_cursor"])).json()["data"]
    assert [row["id"] for row in rest] == [product["id"] for product in products[2:]]
