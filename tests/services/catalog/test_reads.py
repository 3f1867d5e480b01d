"""The catalog's reads, through the gateway."""

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
    """Wire form in, the same wire form out: no field is lost or renamed.

    Importing it again changes it and does not double it; a missing price is deleted.
    """
    place = import_lines.location()
    prices = [import_lines.price(default=False, amount="9.90"), import_lines.price()]
    product = import_lines.product(prices=prices)
    lines = {
        "locations": place,
        "rooms": import_lines.room(place["id"]),
        "class-types": import_lines.class_type(description="A calm hour"),
        "instructors": import_lines.instructor(tags=["yoga", "düz"]),
        "products": product,
    }
    await system.import_lines(list(lines.values()))
    lines["products"] = product | {"prices": prices[::-1]}  # the default one first
    client = system.partner(await system.key())
    for path, line in lines.items():
        assert (await client.get(f"/{path}/{line['id']}")).json() == line
        page = (await client.get(f"/{path}")).json()
        assert page == {"object": "list", "data": [line], "has_more": False, "next_cursor": None}
    changed = product | {"name": "Renamed", "prices": prices[1:]}
    await system.import_lines([changed])
    assert (await client.get("/products")).json()["data"] == [changed]


async def test_lists_show_what_is_active(system: System) -> None:
    """Past classes refer to instructors who have left. Products are filtered by exactly the value."""
    here, gone = import_lines.instructor(), import_lines.instructor(active=False)
    on, off = import_lines.product(), import_lines.product(active=False)
    await system.import_lines([here, gone, on, off])
    client = system.partner(await system.key())
    for path, expected in (
        ("/instructors", here),
        ("/products", on),
        ("/products?active=true", on),
        ("/products?active=false", off),
    ):
        listed = (await client.get(path)).json()["data"]
        assert [one["id"] for one in listed] == [expected["id"]]
    assert (await client.get(f"/instructors/{gone['id']}")).json()["id"] == gone["id"]


async def test_rooms_are_filtered_by_a_location_that_the_key_sees(system: System) -> None:
    """An unknown one is 404, like one that the key is not permitted."""
    mine, other = import_lines.location(name="Mine"), import_lines.location(name="Other")
    rooms = [import_lines.room(mine["id"]), import_lines.room(other["id"])]
    await system.import_lines([mine, other, *rooms])
    everyone = system.partner(await system.key())
    filtered = (await everyone.get("/rooms", location_id=other["id"])).json()["data"]
    assert [room["id"] for room in filtered] == [rooms[1]["id"]]
    limited = system.partner(await system.key(locations=[mine["id"]]))
    assert [room["id"] for room in (await limited.get("/rooms")).json()["data"]] == [rooms[0]["id"]]
    for client, place in ((limited, other["id"]), (everyone, new_id())):
        assert (await client.get("/rooms", location_id=place)).code == "not_found"


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


async def test_pages_join_without_gap_or_repeat(system: System) -> None:
    """Following next_cursor gives every row once, in the order of creation."""
    place = import_lines.location()
    made = {
        "/locations": [place, *(import_lines.location() for _ in range(4))],
        "/rooms": [import_lines.room(place["id"]) for _ in range(5)],
        "/class-types": [import_lines.class_type() for _ in range(5)],
        "/instructors": [import_lines.instructor() for _ in range(5)],
        "/products": [import_lines.product() for _ in range(5)],
    }
    for batch in zip(*made.values(), strict=True):
        await system.import_lines(batch)
    client = system.partner(await system.key())
    for path, lines in made.items():
        rows = await client.everything(path, limit=2)
        assert [row["id"] for row in rows] == [line["id"] for line in lines]
        assert (await client.get(path, limit=2)).json()["next_cursor"] == rows[1]["id"]
        assert (await client.get(path)).json()["next_cursor"] is None


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
