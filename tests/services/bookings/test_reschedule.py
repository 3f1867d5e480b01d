"""Moving a booking to another class: what it costs, what refuses it, and who is told."""

from typing import Any

from shared.wire import new_id
from tests.services.bookings.consistency import failed_checks, inconsistencies
from tests.services.bookings.holding import run_out, with_scopes
from tests.services.bookings.samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_spot,
    soon,
)
from tests.services.bookings.studio_client import Reply, StudioClient


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
    (person,) = await client.rich(1)
    old = a_class(credit_cost=3, spot_selection_mode="optional")
    new, spot = a_class(credit_cost=2, capacity=2), a_spot(old["id"])
    await client.import_all(old, new, spot)
    booking = await booked(client, old, person)
    preview = await previewed(client, booking, new)
    answer = await moved(client, booking, new)
    shown = await client.get_ok(f"/bookings/{booking['id']}")
    assert answer["object"] == "booking_reschedule" and answer["booking"] == shown
    assert (answer["from_class_id"], answer["credits_charged"]) == (old["id"], 2)
    changed = {"class_id": new["id"], "class_spot_id": None, "updated_at": answer["at"]}
    assert shown == booking | changed
    terms = answer["terms"]
    assert (terms["late_cancel"], terms["late_fee_status"], terms["late_fee_amount"]) == (False, "none", None)
    assert (terms["credits_restored"], terms["credits_forfeited"], terms["credit_forfeited"]) == (3, 0, False)
    assert (preview["outcome"], preview["code"], preview["terms"]) == ("rescheduled", None, terms)
    assert await client.list_all(f"/bookings/{booking['id']}/reschedules") == [answer]
    assert await client.staff.list_all(f"/staff/bookings/{booking['id']}/reschedules") == [answer]
    assert await counts_of(client, old, new) == [0, 1]
    assert await client.credits_of(person) == 8
    events = (await client.events())[2:]
    assert [event["type"] for event in events] == ["booking.rescheduled", "class.reopened"]
    assert events[0]["data"] == {
        "object": shown,
        "previous": {
            "class_id": old["id"],
            "class_spot_id": spot["id"],
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
    assert await client.credits_of(person) == 0
    reply = await refused(client, booking, dearer)
    assert (reply.code, reply.details["reasons"]) == ("member_not_eligible", ["no_membership_or_credits"])
    answer = await moved(client, booking, same)
    assert (answer["terms"]["credits_restored"], answer["credits_charged"]) == (2, 2)
    assert await client.credits_of(person) == 0
    assert await inconsistencies(client) == []


async def test_a_late_move_costs_what_a_late_cancellation_costs(client: StudioClient) -> None:
    """The fee is assessed and the credit lost; forfeited credits do not pay for the new seat."""
    product, person = a_product(3), a_member()
    late, new = a_class(credit_cost=2, start_time=soon(hours=3)), a_class(credit_cost=2)
    await client.import_all(
        client.with_late_fee, product, person, a_purchase(person["id"], product), late, new
    )
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
    assert await client.credits_of(person) == 2
    receipt = (await client.cancel(booking["id"])).json
    assert (receipt["late_fee_status"], receipt["credits_restored"]) == ("none", 2), "its own terms"
    assert receipt["class_id"] == new["id"]
    assert await client.list_all(f"/bookings/{booking['id']}/reschedules") != []
    assert await inconsistencies(client) == []


async def test_a_promotion_in_the_old_class_is_forgotten(client: StudioClient) -> None:
    """Whoever was promoted inside the late window cancels free there. The new seat has its own window."""
    old, new = a_class(start_time=soon(hours=3)), a_class(start_time=soon(hours=4))
    people = [a_member(), a_member()]
    await client.import_all(client.with_late_fee, old, new, *people)
    first, second = await client.seated(old, people)
    await client.cancel(first["id"])
    preview = await client.get_ok(f"/bookings/{second['id']}/cancellation-preview")
    assert preview["late_fee_status"] == "none"
    assert (await moved(client, second, new))["terms"]["late_fee_status"] == "none"
    preview = await client.get_ok(f"/bookings/{second['id']}/cancellation-preview")
    assert (preview["late_fee_status"], preview["class_id"]) == ("assessed", new["id"])


async def test_a_membership_is_looked_up_for_the_new_start(client: StudioClient) -> None:
    """One that ends between the two classes does not cover the second."""
    person, old, new = a_member(), *(a_class(credit_cost=1, start_time=soon(days=n)) for n in (2, 4))
    await client.import_all(person, old, new, a_membership(person["id"], ends_at=soon(days=3)))
    booking = await booked(client, old, person)
    assert (await refused(client, booking, new)).code == "member_not_eligible"


async def test_the_old_waitlist_moves_up(client: StudioClient) -> None:
    """The seat goes to the first who waits, with its spot; both classes tell whether they are full."""
    old, new = a_class(spot_selection_mode="optional"), a_class(spot_selection_mode="required")
    spot, *targets = a_spot(old["id"]), *(a_spot(new["id"], order=order) for order in range(2))
    people = [a_member() for _ in range(3)]
    await client.import_all(old, new, spot, *targets, *people)
    first, second, _ = await client.seated(old, people)
    before = len(await client.events())
    answer = await moved(client, first, new, class_spot_id=targets[1]["id"])
    assert answer["booking"]["class_spot_id"] == targets[1]["id"]
    promoted = await client.get_ok(f"/bookings/{second['id']}")
    assert (promoted["status"], promoted["class_spot_id"]) == ("confirmed", spot["id"])
    told = [event["type"] for event in (await client.events())[before:]]
    assert told == ["booking.rescheduled", "booking.confirmed", *["waitlist.updated"] * 2, "class.full"]


async def test_refusals_come_in_their_order(client: StudioClient) -> None:
    """A move never gives a seat up for a place in a queue; the member keeps what was held."""
    person, other, third = (a_member() for _ in range(3))
    old, full, hidden, gone = a_class(capacity=3), a_class(), a_class(visible=False), a_class()
    spots = a_class(capacity=2, spot_selection_mode="required")
    spot = a_spot(spots["id"])
    await client.import_all(person, other, third, old, full, hidden, gone, spots, spot)
    await client.cancel_class(gone)
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
    reply = await refused(client, waiting, old)
    assert (reply.code, reply.details) == ("booking_not_movable", {"status": "waitlisted"})
    assert (await refused(client, booking, spots)).code == "spot_required"
    there = await booked(client, spots, other, class_spot_id=spot["id"])
    assert (await refused(client, booking, spots, class_spot_id=spot["id"])).code == "spot_taken"
    back = await booked(client, old, other)
    reply = await refused(client, back, spots, class_spot_id=spot["id"])
    assert (reply.code, reply.details) == ("already_booked", {"booking_id": there["id"]})
    here = await booked(client, old, third)
    await client.staff.call("POST", f"/staff/bookings/{here['id']}/check-in")
    assert (await refused(client, here, old)).code == "booking_not_movable", "before same_class"
    await client.begin_class(old)
    assert (await refused(client, back, hidden)).details == {"status": "confirmed", "reason": "started"}
    assert (await previewed(client, here, hidden))["terms"] is None
    assert await inconsistencies(client) == []


async def test_an_unknown_class_spot_or_booking_is_not_found(client: StudioClient) -> None:
    """404 comes before every 409."""
    person, old, new = a_member(), a_class(), a_class(spot_selection_mode="optional")
    await client.import_all(person, old, new)
    booking = await booked(client, old, person)
    await client.cancel(booking["id"])
    known = {"class_id": new["id"]}
    for booking_id, body, param in (
        (new_id(), known, None),
        (booking["id"], {"class_id": new_id()}, "class_id"),
        (booking["id"], known | {"class_spot_id": new_id()}, "class_spot_id"),
    ):
        for path in ("reschedule", "reschedule/preview"):
            reply = await client.call("POST", f"/bookings/{booking_id}/{path}", body, key=new_id())
            assert (reply.status, reply.json["error"]["param"]) == (404, param)
    other = StudioClient.for_new_studio(client.service)
    assert (await other.move(booking["id"], new["id"])).status == 404
    assert (await other.get(f"/bookings/{booking['id']}/reschedules")).status == 404


async def test_a_move_repeats_to_keys_that_see_both_classes(client: StudioClient) -> None:
    """A key that may no longer see one of them gets neither the answer nor the key's state."""
    here, there, key = new_id(), new_id(), new_id()
    person, old, new = a_member(), a_class(location_id=here), a_class(location_id=there)
    await client.import_all(person, old, new)
    booking = await booked(client, old, person)
    first = await client.move(booking["id"], new["id"], key=key)
    for locations in ((here,), (there,)):
        limited = client.with_key(locations=locations)
        assert (await limited.move(booking["id"], new["id"], key=key)).status == 404
    both = client.with_key(locations=(here, there))
    assert (await both.move(booking["id"], new["id"], key=key)).body == first.body
    state = (await both.key_state(key)).json
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
    seat, waits = await client.seated(old, [first, second])
    await client.cancel(seat["id"])
    await moved(client, waits, new)
    before = len(await client.events())
    await client.import_all(old | {"title": "Slow"}, send_events=True)
    await client.import_all(new | {"title": "Slow"}, send_events=True)
    told = [(event["type"], event["resource"]["id"]) for event in (await client.events())[before:]]
    assert told == [("class.updated", old["id"]), ("class.updated", new["id"])]


async def test_both_scopes_are_needed(client: StudioClient) -> None:
    """The routing table asks for one of them, the route for the other."""
    reply = await with_scopes(client, "bookings:write").move(new_id(), new_id())
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


async def test_a_hold_of_the_new_class_refuses_a_move_until_it_has_run_out(client: StudioClient) -> None:
    """`already_held`; afterwards neither the member's own old hold nor its spot is in the way."""
    person, old, new = a_member(), a_class(), a_class(spot_selection_mode="required", capacity=2)
    spots = [a_spot(new["id"]), a_spot(new["id"])]
    await client.import_all(person, old, new, *spots)
    booking = await booked(client, old, person)
    hold = await booked(client, new, person, hold_seconds=60, class_spot_id=spots[0]["id"])
    reply = await refused(client, booking, new, class_spot_id=spots[1]["id"])
    assert (reply.code, reply.details) == ("already_held", {"booking_id": hold["id"]})
    await run_out(client, hold)
    before = len(await client.events())
    await moved(client, booking, new, class_spot_id=spots[0]["id"])
    told = [(event["type"], event["resource"]["id"]) for event in (await client.events())[before:]]
    assert told == [
        ("booking.expired", hold["id"]),
        ("booking.rescheduled", booking["id"]),
        ("class.reopened", old["id"]),
    ]
    assert (await client.get_ok(f"/bookings/{hold['id']}"))["status"] == "expired"


async def test_a_hold_does_not_move_and_its_preview_says_how_it_ended(client: StudioClient) -> None:
    """Also while nobody has written that it has run out."""
    person, old, new = a_member(), a_class(), a_class()
    await client.import_all(person, old, new)
    hold = await booked(client, old, person, hold_seconds=60)
    assert (await refused(client, hold, new)).details == {"status": "held"}
    await run_out(client, hold)
    assert (await refused(client, hold, new)).details == {"status": "expired"}


async def test_a_hold_that_was_confirmed_and_moved_still_counts(client: StudioClient) -> None:
    """As one of the two holds in a day of the class in which it was made, and of no other."""
    person, *classes = a_member(), *(a_class(capacity=9) for _ in range(3))
    await client.import_all(person, *classes)
    first, *others = classes
    for class_ in others:
        hold = await booked(client, first, person, hold_seconds=60)
        await client.confirm(hold["id"])
        await moved(client, hold, class_)
    reply = await client.book(first["id"], person["id"], hold_seconds=60)
    assert (reply.code, list(reply.details)) == ("too_many_holds", ["retry_at"])
    await moved(client, hold, first)
    for _ in range(2):
        hold = await booked(client, others[1], person, hold_seconds=60)
        await client.cancel(hold["id"])
    assert (await client.book(others[1]["id"], person["id"], hold_seconds=60)).code == "too_many_holds"


async def test_a_hold_that_ran_out_in_the_new_class_goes_to_its_waitlist_first(client: StudioClient) -> None:
    """Two holds end: one seat is for who waits there, the other for who moves.

    The member who waits in both classes has one credit, which pays for one seat.
    """
    product, people = a_product(1), [a_member() for _ in range(5)]
    purchases = [a_purchase(person["id"], product) for person in people]
    old, new = a_class(credit_cost=1), a_class(credit_cost=1, capacity=2)
    await client.import_all(product, *people, *purchases, old, new)
    clients = [client, client.with_key(client_id=new_id())]
    holds = [
        await booked(one, new, person, hold_seconds=60)
        for one, person in zip(clients, people[:2], strict=True)
    ]
    mover, waits_here = await client.seated(old, [people[2], people[3]])
    (waits_there,) = await client.seated(new, [people[3]])
    await run_out(client, *holds)
    assert (await moved(client, mover, new))["booking"]["class_id"] == new["id"]
    # The credit has paid for the seat there.
    assert await client.statuses(waits_there, waits_here) == ["confirmed", "cancelled"]
    assert await client.credits_of(people[3]) == 0
    assert await counts_of(client, old, new) == [0, 2]
    assert await failed_checks(client, "counter", "positions", "waitlist pair", "credits", "receipt") == []
