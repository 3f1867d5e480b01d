"""An import compares first: a change creates an event, and a line that changes nothing writes nothing."""

from typing import Any

import pytest

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product, a_purchase, a_spot
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking, an_entry

TABLES = ("classes", "class_spots", "members", "memberships", "purchases", "bookings", "waitlist", "products")
PLACES = "SELECT ctid::text, xmin::text, xmax::text FROM {table} ORDER BY 1"


async def rows_of(client: StudioClient) -> dict[str, list[tuple[Any, ...]]]:
    """The physical place of each row and the transaction that wrote or locked it. Either would change."""
    async with client.service.db.connection() as conn:
        return {
            table: [tuple(row) for row in await conn.fetch(PLACES.format(table=table))] for table in TABLES
        }


class Studio:
    """One of everything that bookings imports."""

    def __init__(self) -> None:
        self.product = a_product()
        self.people = [a_member() for _ in range(3)]
        self.membership = a_membership(self.people[0]["id"])
        self.purchase = a_purchase(self.people[0]["id"], self.product)
        self.class_ = a_class(capacity=1)
        class_id = self.class_["id"]
        self.spot = a_spot(class_id, order=1)
        self.booking = a_booking(class_id, self.people[0]["id"])
        self.waiting = a_booking(class_id, self.people[1]["id"], status="waitlisted")
        self.entry = an_entry(class_id, self.people[1]["id"], 1)
        self.lines = [self.product, *self.people, self.membership, self.purchase, self.class_, self.spot]
        self.lines += [self.booking, self.waiting, self.entry]


@pytest.fixture
async def studio(client: StudioClient) -> Studio:
    made = Studio()
    await client.import_all(*made.lines)
    return made


async def told(client: StudioClient, *lines: dict[str, Any]) -> list[Any]:
    """The events of these lines."""
    since = len(await client.events())
    await client.import_all(*lines, send_events=True)
    return (await client.events())[since:]


async def test_lines_that_change_nothing_write_nothing(client: StudioClient, studio: Studio) -> None:
    """No row is written or even locked, and there is no event. A changed line among them has one."""
    before = await rows_of(client)
    assert await told(client, *studio.lines) == []
    assert await rows_of(client) == before
    (event,) = await told(client, *studio.lines, studio.people[2] | {"first_name": "Grace"})
    assert event["type"] == "member.updated"
    assert event["data"]["previous"] == {"name": "Ada Byron", "first_name": "Ada"}


async def test_a_first_load_can_create_events_too(client: StudioClient) -> None:
    """Everything is `created`, as its GET shows it."""
    studio = Studio()
    events = await told(client, *studio.lines)
    kinds = [event["type"] for event in events]
    assert sorted(kinds) == sorted(
        ["member.created"] * 3
        + ["membership.created", "purchase.created", "class.created"]
        + ["booking.created"] * 2
        + ["waitlist.updated"]
    )
    paths = {"class": "classes", "waitlist": "waitlist"}
    for event in events:
        resource = event["resource"]
        path = paths.get(resource["object"], f"{resource['object']}s")
        assert event["data"]["object"] == await client.get_ok(f"/{path}/{resource['id']}")


async def test_each_kind_of_line_creates_an_event_with_the_old_values(
    client: StudioClient, studio: Studio
) -> None:
    """Only what the line has changed, and only what partners see."""
    for line, change, kind, previous in (
        (studio.class_, {"title": "Slow"}, "class.updated", {"title": "Flow"}),
        (
            studio.membership,
            {"auto_renew": False},
            "membership.updated",
            {"auto_renew": True, "state_version": 1},
        ),
        (studio.purchase, {"quantity": 2}, "purchase.updated", {"quantity": 1}),
    ):
        line |= change
        (event,) = await told(client, line)
        assert (event["type"], event["data"]["previous"]) == (kind, previous)
        assert event["resource"]["version"] > 1
    assert await told(client, studio.people[0] | {"phone": "+12125550147"}) == []


async def test_a_freed_seat_creates_the_events_of_everything_that_follows(
    client: StudioClient, studio: Studio
) -> None:
    """A line cancels the seated booking: the waiting member is confirmed, and the class stays full."""
    events = await told(client, studio.booking | {"status": "cancelled"})
    kinds = sorted(event["type"] for event in events)
    assert kinds == ["booking.cancelled", "booking.confirmed", "waitlist.updated"]
    confirmed = next(event for event in events if event["type"] == "booking.confirmed")
    assert confirmed["resource"]["id"] == studio.waiting["id"]
    assert confirmed["data"] == {"object": await client.get_ok(f"/bookings/{studio.waiting['id']}")}
    (cancelled, reopened) = await told(client, studio.waiting | {"status": "cancelled"})
    assert {cancelled["type"], reopened["type"]} == {"booking.cancelled", "class.reopened"}


async def test_a_cancelled_class_creates_the_events_of_its_bookings(
    client: StudioClient, studio: Studio
) -> None:
    """As when staff cancel it: `class.cancelled`, and each booking."""
    events = await told(client, studio.class_ | {"status": "cancelled"})
    kinds = sorted(event["type"] for event in events)
    assert kinds == ["booking.cancelled"] * 2 + ["class.cancelled", "waitlist.updated"]
    assert [event["type"] for event in events if "previous" in event["data"]] == ["waitlist.updated"]


async def test_a_class_that_an_import_moves_and_cancels_is_cancelled_at_its_new_location(
    client: StudioClient, studio: Studio
) -> None:
    """The old location learns only that it is gone, as with any other move."""
    old, new = new_id(), new_id()
    await client.import_all(studio.class_ | {"location_id": old})
    events = await told(client, studio.class_ | {"location_id": new, "status": "cancelled"})
    kinds = {(event["type"], event["location_id"]) for event in events}
    assert {("class.cancelled", new), ("class.updated", old), ("booking.cancelled", new)} <= kinds
    assert not any("previous" in event["data"] for event in events)


async def test_an_entry_that_gets_its_own_id_creates_a_last_event_of_the_old_one(
    client: StudioClient,
) -> None:
    """The waitlist line comes in a later batch than its booking's: mirrors must delete the old id."""
    studio = Studio()
    await client.import_all(*(line for line in studio.lines if line is not studio.entry))
    (made,) = await client.list_all("/waitlist")
    assert made["id"] == studio.waiting["id"]
    events = await told(client, studio.entry)
    by_id = {event["resource"]["id"]: event for event in events}
    assert set(by_id) == {made["id"], studio.entry["id"]}
    assert by_id[made["id"]]["data"]["object"] == {"id": made["id"], "object": "waitlist"}
    assert (await client.get(f"/waitlist/{made['id']}")).status == 404


async def test_two_lines_of_one_id_are_both_written(client: StudioClient, studio: Studio) -> None:
    """The second is what was stored; without it the first would stay."""
    person = studio.people[2]
    await client.import_lines(person | {"first_name": "Grace"}, person, send_events=True)
    assert (await client.get_ok(f"/members/{person['id']}"))["first_name"] == "Ada"


async def test_an_entry_that_is_converted_at_once_creates_events(
    client: StudioClient, studio: Studio
) -> None:
    """A waitlisted line for a class with a free seat makes an entry and promotes it in one transaction."""
    class_, _ = await client.open_class(people=0)
    events = await told(client, a_booking(class_["id"], studio.people[2]["id"], status="waitlisted"))
    assert sorted(event["type"] for event in events) == ["booking.created", "class.full", "waitlist.updated"]
    (entry,) = await client.list_all("/waitlist", class_id=class_["id"])
    assert entry["status"] == "converted"
    assert [event["data"]["object"] for event in events if event["type"] == "waitlist.updated"] == [entry]
