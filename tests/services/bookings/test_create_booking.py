"""Booking a class, refusals included."""

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product, a_purchase, a_spot
from tests.services.bookings.studio_client import StudioClient


async def test_a_free_seat_is_confirmed_and_shown_everywhere(client: StudioClient) -> None:
    """The response, GET, the list, the class's count and the event agree."""
    class_, member = a_class(capacity=2), a_member()
    await client.import_all(class_, member)
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


async def test_a_full_class_adds_to_the_waitlist(client: StudioClient) -> None:
    """`join_waitlist` adds an entry with the booking's position; both have an event."""
    class_, members = a_class(capacity=1), [a_member() for _ in range(3)]
    await client.import_all(class_, *members)
    await client.book(class_["id"], members[0]["id"])
    for position, member in enumerate(members[1:], 1):
        reply = await client.book(class_["id"], member["id"], join_waitlist=True)
        assert reply.status == 201
        assert (reply.json["status"], reply.json["waitlist_position"]) == ("waitlisted", position)
    entries = (await client.get_ok("/waitlist", class_id=class_["id"]))["data"]
    assert [(entry["position"], entry["status"]) for entry in entries] == [(1, "waiting"), (2, "waiting")]
    kinds = [event["type"] for event in await client.events()]
    assert kinds == ["booking.created", "class.full"] + ["booking.created", "waitlist.updated"] * 2


async def test_credits_pay_once_and_only_what_no_membership_covers(client: StudioClient) -> None:
    """10 credits pay three classes at 3; the fourth is refused. An imported purchase grants once."""
    product, payer = a_product(10), a_member()
    bought = a_purchase(payer["id"], product)
    classes = [a_class(credit_cost=3) for _ in range(4)]
    await client.import_all(product, payer, bought, *classes)
    await client.import_all(bought)
    statuses = [(await client.book(class_["id"], payer["id"])).status for class_ in classes]
    assert statuses == [201, 201, 201, 409]
    holder = a_member()
    await client.import_all(holder, a_membership(holder["id"]), a_class())
    last = a_class(credit_cost=3)
    await client.import_all(last)
    assert (await client.book(last["id"], holder["id"])).status == 201


async def test_spots_are_listed_and_assigned_in_order(client: StudioClient) -> None:
    """`optional` takes the first free one, if there is one; a spot of another class is unknown."""
    class_, other = (a_class(capacity=3, spot_selection_mode="optional") for _ in range(2))
    people = [a_member() for _ in range(3)]
    second, first = (a_spot(class_["id"], label=f"B{order}", order=order) for order in (2, 1))
    await client.import_all(second, first, class_, other, *people)
    unknown = await client.book(other["id"], people[0]["id"], class_spot_id=first["id"])
    assert (unknown.status, unknown.json["error"]["param"]) == (404, "class_spot_id")
    path = f"/classes/{class_['id']}/spots"
    for person, spot, available in zip(people, (first, second, None), ([0, 1], [0, 0], [0, 0]), strict=True):
        booked = (await client.book(class_["id"], person["id"])).json
        assert booked["class_spot_id"] == (spot and spot["id"])
        shown = (await client.get_ok(path))["data"]
        assert [row["label"] for row in shown] == ["B1", "B2"]
        assert [row["available"] for row in shown] == available


async def test_an_unknown_class_comes_before_an_unknown_member(client: StudioClient) -> None:
    """404 names the first of them in `param`."""
    reply = await client.book(new_id(), new_id())
    assert (reply.status, reply.json["error"]["param"]) == (404, "class_id")
