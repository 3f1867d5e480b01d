"""Booking a class, refusals included."""

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_spot
from tests.services.bookings.studio_client import StudioClient


async def test_a_free_seat_is_confirmed_and_shown_everywhere(client: StudioClient) -> None:
    """The response, GET, the list, the class's count and the event agree."""
    class_, (member,) = await client.open_class(capacity=2)
    reply = await client.book(class_["id"], member["id"])
    assert reply.status == 201
    booking = reply.json
    assert booking["status"] == "confirmed" and booking["booking_source"] == "partner_api"
    assert booking == await client.get_ok(f"/bookings/{booking['id']}")
    assert [booking] == (await client.get_ok("/bookings", class_id=class_["id"]))["data"]
    shown = await client.get_ok(f"/classes/{class_['id']}")
    assert (shown["booked_count"], shown["available_count"]) == (1, 1)
    (event,) = await client.events()
    assert event["type"] == "booking.created" and event["data"]["object"] == booking
    assert event["resource"] == {"object": "booking", "id": booking["id"], "version": 1}


async def test_spots_are_listed_and_assigned_in_order(client: StudioClient) -> None:
    """`optional` takes the first free one, if there is one; a spot of another class is unknown.

    404 names the first of what is unknown.
    """
    class_, other = (a_class(capacity=3, spot_selection_mode="optional") for _ in range(2))
    people = [a_member() for _ in range(3)]
    second, first = (a_spot(class_["id"], label=f"B{order}", order=order) for order in (2, 1))
    await client.import_all(second, first, class_, other, *people)
    for class_id, member_id, param in (
        (other["id"], people[0]["id"], "class_spot_id"),
        (other["id"], new_id(), "member_id"),
        (new_id(), new_id(), "class_id"),
    ):
        unknown = await client.book(class_id, member_id, class_spot_id=first["id"])
        assert (unknown.status, unknown.json["error"]["param"]) == (404, param)
    path = f"/classes/{class_['id']}/spots"
    for person, spot, available in zip(people, (first, second, None), ([0, 1], [0, 0], [0, 0]), strict=True):
        booked = (await client.book(class_["id"], person["id"])).json
        assert booked["class_spot_id"] == (spot and spot["id"])
        shown = (await client.get_ok(path))["data"]
        assert [row["label"] for row in shown] == ["B1", "B2"]
        assert [row["available"] for row in shown] == available
