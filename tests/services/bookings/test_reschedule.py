"""Moving a booking to another class: what it costs, what refuses it, and who is told."""

from typing import Any

import msgspec

from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_spot,
    a_studio,
    soon,
)
from tests.services.bookings.studio_client import Reply, StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich, seated


async def booked(client: StudioClient, class_: Any, person: Any, **more: Any) -> Any:
    reply = await client.book(class_["id"], person["id"], **more)
    assert reply.status == 201, reply.body
    return reply.json


async def moved(client: StudioClient, booking: Any, class_: Any, **more: Any) -> Any:
    reply = await client.move(booking["id"], class_["id"], **more)
    assert reply.status == 200, reply.body
    return reply.json


async def previewed(client: StudioClient, booking: Any, class_: Any, **more: Any) -> Any:
    path = f"/bookings/{booking['id']}/reschedule/preview"
    reply = await client.call("POST", path, {"class_id": class_["id"], **more})
    assert reply.status == 200, reply.body
    return reply.json


async def refused(client: StudioClient, booking: Any, class_: Any, **more: Any) -> Reply:
    """The refusal of a move: its preview says the same, and nothing has changed."""
    before = await client.get_ok(f"/bookings/{booking['id']}"), await client.events()
    preview = await previewed(client, booking, class_, **more)
    reply = await client.move(booking["id"], class_["id"], **more)
    assert reply.status == 409, reply.body
    failed = next(check for check in preview["checks"] if not check["passed"])
    assert (preview["outcome"], preview["code"]) == ("refused", reply.code)
    assert (failed["code"], failed["details"]) == (reply.code, reply.details)
    assert (await client.get_ok(f"/bookings/{booking['id']}"), await client.events()) == before
    assert await client.list_all(f"/bookings/{booking['id']}/reschedules") == []
    return reply


async def counts_of(client: StudioClient, *classes: Any) -> list[int]:
    return [(await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] for class_ in classes]


async def test_a_booking_moves_and_keeps_its_id(client: StudioClient) -> None:
    """One transaction: the answer, the list of moves, both counts, and one event with where it was."""
    (person,) = await rich(client, 1)
    old, new = a_class(credit_cost=3), a_class(credit_cost=2, capacity=2)
    await client.import_all(old, new)
    booking = await booked(client, old, person)
    preview = await previewed(client, booking, new)
    answer = await moved(client, booking, new)
    shown = await client.get_ok(f"/bookings/{booking['id']}")
    assert answer["object"] == "booking_reschedule" and answer["booking"] == shown
    assert (answer["from_class_id"], answer["credits_charged"]) == (old["id"], 2)
    still = {"class_id": new["id"], "updated_at": answer["at"]}
    assert shown == booking | still
    terms = answer["terms"]
    assert (terms["late_cancel"], terms["late_fee_status"], terms["late_fee_amount"]) == (False, "none", None)
    assert (terms["credits_restored"], terms["credits_forfeited"], terms["credit_forfeited"]) == (3, 0, False)
    assert (preview["outcome"], preview["code"], preview["terms"]) == ("rescheduled", None, terms)
    assert await client.list_all(f"/bookings/{booking['id']}/reschedules") == [answer]
    assert await client.staff.list_all(f"/staff/bookings/{booking['id']}/reschedules") == [answer]
    assert await counts_of(client, old, new) == [0, 1]
    assert await credits_of(client, person) == 8
    events = (await client.events())[2:]
    assert [event["type"] for event in events] == ["booking.rescheduled", "class.reopened"]
    assert events[0]["data"] == {
        "object": shown,
        "previous": {
            "class_id": old["id"],
            "class_spot_id": None,
            "start_time": (await client.get_ok(f"/classes/{old['id']}"))["start_time"],
            "location_id": None,
        },
    }
    assert await inconsistencies(client) == []


async def test_credits_that_come_back_pay_for_the_new_seat(client: StudioClient) -> None:
    """A member without another credit may move to a class of the same price, and not to a dearer one."""
    product, person = a_product(2), a_member()
    old, same, dearer = a_class(credit_cost=2), a_class(credit_cost=2), a_class(credit_cost=3)
    await client.import_all(product, person, a_purchase(person["id"], product), old, same, dearer)
    booking = await booked(client, old, person)
    assert await credits_of(client, person) == 0
    reply = await refused(client, booking, dearer)
    assert (reply.code, reply.details["reasons"]) == ("member_not_eligible", ["no_membership_or_credits"])
    answer = await moved(client, booking, same)
    assert (answer["terms"]["credits_restored"], answer["credits_charged"]) == (2, 2)
    assert await credits_of(client, person) == 0
    assert await inconsistencies(client) == []


async def test_a_late_move_costs_what_a_late_cancellation_costs(client: StudioClient) -> None:
    """The fee is assessed and the credit lost; forfeited credits do not pay for the new seat."""
    studio = a_studio(
        client.caller.studio_id, late_fee_amount="15", late_fee_currency="USD", forfeit_credit=True
    )
    product, person = a_product(3), a_member()
    late, new = a_class(credit_cost=2, start_time=soon(hours=3)), a_class(credit_cost=2)
    await client.import_all(studio, product, person, a_purchase(person["id"], product), late, new)
    booking = await booked(client, late, person)
    assert (await refused(client, booking, new)).code == "member_not_eligible"
    await client.import_all(a_purchase(person["id"], product))
    for limits in ({"max_late_fee": "14.99"}, {"allow_credit_forfeit": False}):
        reply = await refused(client, booking, new, **limits)
        assert reply.code == "cancellation_terms_changed"
        assert (reply.details["late_fee_amount"], reply.details["credits_forfeited"]) == ("15.00", 2)
    answer = await moved(client, booking, new, max_late_fee="15", allow_credit_forfeit=True)
    terms = answer["terms"]
    assert terms["late_cancel"] is True
    assert (terms["late_fee_amount"], terms["late_fee_status"]) == ("15.00", "assessed")
    assert (terms["credits_forfeited"], terms["credits_restored"], answer["credits_charged"]) == (2, 0, 2)
    assert await credits_of(client, person) == 2
    receipt = (await client.cancel(booking["id"])).json
    assert (receipt["late_fee_status"], receipt["credits_restored"]) == ("none", 2), "its own terms"
    assert receipt["class_id"] == new["id"]
    assert await client.list_all(f"/bookings/{booking['id']}/reschedules") != []
    assert await inconsistencies(client) == []


async def test_a_promotion_in_the_old_class_is_forgotten(client: StudioClient) -> None:
    """Whoever was promoted inside the late window cancels free there. The new seat has its own window."""
    studio = a_studio(client.caller.studio_id, late_fee_amount="15", late_fee_currency="USD")
    old, new = a_class(start_time=soon(hours=3)), a_class(start_time=soon(hours=4))
    people = [a_member(), a_member()]
    await client.import_all(studio, old, new, *people)
    first, second = await seated(client, old, people)
    await client.cancel(first["id"])
    preview = await client.get_ok(f"/bookings/{second['id']}/cancellation-preview")
    assert preview["late_fee_status"] == "none"
    assert (await moved(client, second, new))["terms"]["late_fee_status"] == "none"
    preview = await client.get_ok(f"/bookings/{second['id']}/cancellation-preview")
    assert (preview["late_fee_status"], preview["class_id"]) == ("assessed", new["id"])


async def test_a_membership_is_looked_up_for_the_new_start(client: StudioClient) -> None:
    """One that ends between the two classes covers only the first; one that begins there only the second."""
    ends, begins = a_member(), a_member()
    product = a_product(1)
    middle = soon(days=3)
    old, new = (a_class(credit_cost=1, capacity=2, start_time=soon(days=n)) for n in (2, 4))
    await client.import_all(
        product,
        ends,
        begins,
        old,
        new,
        a_membership(ends["id"], ends_at=middle),
        a_membership(begins["id"], starts_at=middle),
        a_purchase(begins["id"], product),
    )
    leaves = await booked(client, old, ends)
    assert (await refused(client, leaves, new)).code == "member_not_eligible"
    paid = await booked(client, old, begins)
    assert await credits_of(client, begins) == 0
    assert (await moved(client, paid, new))["credits_charged"] == 0
    assert await credits_of(client, begins) == 1


async def test_the_old_waitlist_moves_up(client: StudioClient) -> None:
    """The seat goes to the first who waits, with its spot; both classes tell whether they are full."""
    old, new = a_class(spot_selection_mode="optional"), a_class(spot_selection_mode="required")
    spot, target = a_spot(old["id"]), a_spot(new["id"])
    people = [a_member() for _ in range(3)]
    await client.import_all(old, new, spot, target, *people)
    first, second, third = await seated(client, old, people)
    assert (await refused(client, first, new)).code == "spot_required"
    unknown = await client.move(first["id"], new["id"], class_spot_id=spot["id"])
    assert (unknown.status, unknown.json["error"]["param"]) == (404, "class_spot_id")
    before = len(await client.events())
    answer = await moved(client, first, new, class_spot_id=target["id"])
    assert answer["booking"]["class_spot_id"] == target["id"]
    promoted = await client.get_ok(f"/bookings/{second['id']}")
    assert (promoted["status"], promoted["class_spot_id"]) == ("confirmed", spot["id"])
    assert (await client.get_ok(f"/bookings/{third['id']}"))["waitlist_position"] == 1
    told = [(event["type"], event["resource"]["id"]) for event in (await client.events())[before:]]
    assert told[:2] == [("booking.rescheduled", first["id"]), ("booking.confirmed", second["id"])]
    assert [kind for kind, _ in told[2:]] == ["waitlist.updated", "waitlist.updated", "class.full"]
    assert told[-1] == ("class.full", new["id"])
    assert (await client.events())[before]["data"]["previous"]["class_spot_id"] == spot["id"]
    assert await inconsistencies(client) == []


async def test_refusals_come_in_their_order(client: StudioClient) -> None:
    """A move never gives a seat up for a place in a queue; the member keeps what was held."""
    person, other = a_member(), a_member()
    old, full, hidden, gone = a_class(capacity=3), a_class(), a_class(visible=False), a_class()
    spots = a_class(capacity=2, spot_selection_mode="required")
    spot = a_spot(spots["id"])
    await client.import_all(person, other, old, full, hidden, gone, spots, spot)
    await client.staff.call("POST", f"/staff/classes/{gone['id']}/cancel", {})
    booking = await booked(client, old, person)
    assert (await refused(client, booking, old)).code == "same_class"
    assert (await refused(client, booking, hidden)).details == {"reason": "hidden"}
    assert (await refused(client, booking, gone)).details == {"reason": "cancelled"}
    await booked(client, full, other)
    reply = await refused(client, booking, full)
    assert (reply.code, reply.details["booked_count"]) == ("class_full", 1)
    waiting = await booked(client, full, person, join_waitlist=True)
    reply = await refused(client, booking, full)
    assert (reply.code, reply.details) == ("already_waitlisted", {"booking_id": waiting["id"]})
    there = await booked(client, spots, other, class_spot_id=spot["id"])
    assert (await refused(client, booking, spots, class_spot_id=spot["id"])).code == "spot_taken"
    back = await booked(client, old, other)
    reply = await refused(client, back, spots, class_spot_id=spot["id"])
    assert (reply.code, reply.details) == ("already_booked", {"booking_id": there["id"]})
    assert await inconsistencies(client) == []


async def test_only_a_confirmed_booking_of_a_class_to_come_moves(client: StudioClient) -> None:
    """Waiting, cancelled and checked-in bookings stay, and so does one whose class has begun."""
    people = [a_member() for _ in range(4)]
    old, new = a_class(capacity=3), a_class(capacity=9)
    await client.import_all(*people, old, new)
    cancelled, here, starts, waits = await seated(client, old, people)
    reply = await refused(client, waits, new)
    assert (reply.code, reply.details) == ("booking_not_movable", {"status": "waitlisted"})
    await client.cancel(waits["id"])
    await client.cancel(cancelled["id"])
    await client.staff.call("POST", f"/staff/bookings/{here['id']}/check-in")
    assert (await refused(client, cancelled, new)).details == {"status": "cancelled"}
    assert (await refused(client, here, new)).details == {"status": "checked_in"}
    assert (await refused(client, here, old)).code == "booking_not_movable", "before same_class"
    times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
    await client.staff.call("PATCH", f"/staff/classes/{old['id']}", times)
    assert (await refused(client, starts, new)).details == {"status": "confirmed", "reason": "started"}
    preview = await previewed(client, cancelled, new)
    assert preview["terms"] is None


async def test_an_unknown_class_or_booking_is_not_found(client: StudioClient) -> None:
    """404 comes before every 409."""
    person, old, new = a_member(), a_class(), a_class()
    await client.import_all(person, old, new)
    booking = await booked(client, old, person)
    await client.cancel(booking["id"])
    for booking_id, class_id, param in (
        (new_id(), new["id"], None),
        (booking["id"], new_id(), "class_id"),
    ):
        for path in ("reschedule", "reschedule/preview"):
            reply = await client.call(
                "POST", f"/bookings/{booking_id}/{path}", {"class_id": class_id}, key=new_id()
            )
            assert (reply.status, reply.json["error"]["param"]) == (404, param)
    other = StudioClient.for_new_studio(client.service)
    assert (await other.move(booking["id"], new["id"])).status == 404
    assert (await other.get(f"/bookings/{booking['id']}/reschedules")).status == 404


async def test_a_move_repeats_byte_for_byte(client: StudioClient) -> None:
    """Also a refusal; and a key that may no longer see one of the classes gets neither."""
    here, there = new_id(), new_id()
    person, old, new = a_member(), a_class(location_id=here), a_class(location_id=there)
    await client.import_all(person, old, new)
    booking = await booked(client, old, person)
    key = new_id()
    first = await client.move(booking["id"], new["id"], key=key)
    again = await client.move(booking["id"], new["id"], key=key)
    assert (first.status, first.body) == (again.status, again.body) and again.replayed
    assert (await client.move(booking["id"], old["id"], key=key)).code == "idempotency_key_reused"
    for locations in ((here,), (there,)):
        limited = client.with_key(locations=locations)
        assert (await limited.move(booking["id"], new["id"], key=key)).status == 404
    both = client.with_key(locations=(here, there))
    assert (await both.move(booking["id"], new["id"], key=key)).body == first.body
    twice = new_id()
    first = await client.move(booking["id"], new["id"], key=twice)
    again = await client.move(booking["id"], new["id"], key=twice)
    assert first.code == "same_class" and first.body == again.body
    state = (await client.key_state(key)).json
    assert (state["status"], state["resource_id"]) == ("succeeded", booking["id"])
    assert (await client.with_key(locations=(here,)).key_state(key)).status == 404


async def test_each_key_is_told_what_it_may_see(client: StudioClient) -> None:
    """A move between locations: whole for a key of both, without the past for the new, an id for the old."""
    here, there = new_id(), new_id()
    person = a_member()
    old, new = a_class(location_id=here), a_class(location_id=there)
    nowhere = a_class()
    await client.import_all(person, old, new, nowhere)
    booking = await booked(client, old, person)
    await moved(client, booking, new)
    events = [event for event in await client.events() if event["type"] == "booking.rescheduled"]
    for event in events:
        assert event["resource"]["version"] == 2 and event["resource"]["id"] == booking["id"]
    whole, came, left = events
    previous = whole["data"]["previous"]
    assert (previous["class_id"], previous["location_id"]) == (old["id"], here)
    assert (whole["audience"], whole["location_id"], whole["moved_to"]) == ("both_locations", there, here)
    assert (came["audience"], came["location_id"], came["moved_to"]) == ("came_to_location", there, here)
    assert came["data"] == {"object": whole["data"]["object"]}
    assert (left["audience"], left["location_id"], left["moved_to"]) == ("left_location", here, there)
    assert left["data"] == {"object": {"id": booking["id"], "object": "booking"}, "previous": previous}
    assert len({event["id"] for event in events}) == 3
    limited = client.with_key(locations=(here,))
    assert (await limited.get(f"/bookings/{booking['id']}/reschedules")).status == 404
    limited = client.with_key(locations=(there,))
    (shown,) = await limited.list_all(f"/bookings/{booking['id']}/reschedules")
    assert (shown["from_class_id"], shown["booking"]["class_id"]) == (None, new["id"])
    assert (await limited.move(booking["id"], old["id"])).json["error"]["param"] == "class_id"
    assert (await client.with_key(locations=(here,)).move(booking["id"], old["id"])).status == 404
    for class_, expected in (
        (nowhere, [("both_locations", None, there), ("left_location", there, None)]),
        (new, [("both_locations", there, None), ("came_to_location", there, None)]),
    ):
        before = len(await client.events())
        await moved(client, booking, class_)
        events = (await client.events())[before:]
        told = [(e["audience"], e["location_id"], e.get("moved_to")) for e in events if "audience" in e]
        assert told == expected


async def test_an_import_of_either_class_tells_nothing_of_a_booking_that_has_moved_on(
    client: StudioClient,
) -> None:
    """It waited in the first class and has its seat in the second: neither has changed."""
    first, second = a_member(), a_member()
    old, new = a_class(), a_class()
    await client.import_all(first, second, old, new)
    seat, waits = await seated(client, old, [first, second])
    await client.cancel(seat["id"])
    await moved(client, waits, new)
    before = len(await client.events())
    await client.import_all(old | {"title": "Slow"}, send_events=True)
    await client.import_all(new | {"title": "Slow"}, send_events=True)
    told = [(event["type"], event["resource"]["id"]) for event in (await client.events())[before:]]
    assert told == [("class.updated", old["id"]), ("class.updated", new["id"])]


async def test_both_scopes_are_needed(client: StudioClient) -> None:
    """The routing table asks for one of them, the route for the other."""
    person, old, new = a_member(), a_class(), a_class()
    await client.import_all(person, old, new)
    booking = await booked(client, old, person)
    caller = msgspec.structs.replace(client.caller, scopes=frozenset({"bookings:write"}))
    reply = await StudioClient(client.service, caller).move(booking["id"], new["id"])
    assert (reply.status, reply.details["required_scope"]) == (403, "bookings:cancel")


async def test_moves_are_listed_in_pages(client: StudioClient) -> None:
    """Oldest first, back and forth."""
    person, classes = a_member(), [a_class() for _ in range(3)]
    await client.import_all(person, *classes)
    booking = await booked(client, classes[0], person)
    for class_ in (classes[1], classes[2], classes[0], classes[1]):
        await moved(client, booking, class_)
    rows = await client.list_all(f"/bookings/{booking['id']}/reschedules", limit=1)
    assert [row["from_class_id"] for row in rows] == [classes[n]["id"] for n in (0, 1, 2, 0)]
    assert {row["booking"]["class_id"] for row in rows} == {classes[1]["id"]}
    reply = await client.get(f"/bookings/{booking['id']}/reschedules", cursor=new_id())
    assert reply.code == "invalid_cursor"
    assert await inconsistencies(client) == []
