"""Cancelling: the policy, the receipt, and who moves up."""

from typing import Any

from tests.services.bookings.desk import (
    Desk,
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_studio,
    soon,
)


async def seated(desk: Desk, class_: Any, people: list[Any]) -> list[Any]:
    """All of them booked, in order; whoever finds no seat waits."""
    replies = [await desk.book(class_["id"], person["id"], join_waitlist=True) for person in people]
    assert {reply.status for reply in replies} == {201}
    return [reply.json for reply in replies]


async def rich(desk: Desk, count: int) -> list[Any]:
    """Members with ten credits each."""
    product, people = a_product(10), [a_member() for _ in range(count)]
    await desk.loaded(product, *people, *(a_purchase(person["id"], product) for person in people))
    return people


async def credits_of(desk: Desk, member: Any) -> int:
    """Not shown on the wire: counted by what a class of that cost answers in a preview."""
    low, high = 0, 64
    while high - low > 1:
        cost = (low + high) // 2
        probe = a_class(credit_cost=cost)
        await desk.loaded(probe)
        body = {"class_id": probe["id"], "member_id": member["id"]}
        outcome = (await desk.call("POST", "/bookings/preview", body)).json["outcome"]
        low, high = (cost, high) if outcome == "confirmed" else (low, cost)
    return low


async def test_cancelling_in_time_costs_nothing_and_gives_the_credit_back(desk: Desk) -> None:
    """The receipt tells the deadline; the seat is free again."""
    (person,) = await rich(desk, 1)
    class_ = a_class(credit_cost=3)
    await desk.loaded(class_)
    booking = (await desk.book(class_["id"], person["id"])).json
    assert await credits_of(desk, person) == 7
    preview = await desk.ok(f"/bookings/{booking['id']}/cancellation-preview")
    receipt = (await desk.cancel(booking["id"], reason="ill")).json
    assert receipt["object"] == "booking_cancellation" and receipt["status"] == "cancelled"
    assert (receipt["late_cancel"], receipt["late_fee_status"], receipt["reason"]) == (False, "none", "ill")
    assert (receipt["credits_restored"], receipt["credits_forfeited"]) == (3, 0)
    moving = {"id": None, "cancelled_at": None, "reason": None}
    assert preview | moving == receipt | moving
    assert await credits_of(desk, person) == 10
    assert (await desk.ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert (await desk.ok(f"/bookings/{booking['id']}"))["status"] == "cancelled"
    assert [event["type"] for event in await desk.events()] == ["booking.created", "booking.cancelled"]


async def test_cancelling_late_is_assessed_and_forfeits(desk: Desk) -> None:
    """Fee and forfeit as the studio's policy says now; worse terms than accepted cancel nothing."""
    studio = a_studio(
        desk.caller.studio_id, late_fee_amount="15", late_fee_currency="USD", forfeit_credit=True
    )
    (person,) = await rich(desk, 1)
    class_ = a_class(credit_cost=2, start_time=soon(hours=3))
    await desk.loaded(studio, class_)
    booking = (await desk.book(class_["id"], person["id"])).json
    for limits in ({"max_late_fee": "14.99"}, {"allow_credit_forfeit": "false"}):
        reply = await desk.cancel(booking["id"], **limits)
        assert reply.code == "cancellation_terms_changed"
        assert (reply.details["late_fee_amount"], reply.details["credits_forfeited"]) == ("15.00", 2)
    assert (await desk.ok(f"/bookings/{booking['id']}"))["status"] == "confirmed"
    receipt = (await desk.cancel(booking["id"], max_late_fee="15", allow_credit_forfeit="true")).json
    assert (receipt["late_cancel"], receipt["late_fee_amount"], receipt["late_fee_currency"]) == (
        True,
        "15.00",
        "USD",
    )
    assert receipt["late_fee_status"] == "assessed"
    assert (receipt["credit_forfeited"], receipt["credits_restored"]) == (True, 0)
    assert await credits_of(desk, person) == 8


async def test_the_policy_of_now_counts(desk: Desk) -> None:
    """A changed policy applies to older bookings too; a studio line without a policy changes nothing."""
    class_, person = a_class(start_time=soon(hours=3)), a_member()
    await desk.loaded(class_, person, a_studio(desk.caller.studio_id, late_window_minutes=60))
    booking = (await desk.book(class_["id"], person["id"])).json
    path = f"/bookings/{booking['id']}/cancellation-preview"
    assert (await desk.ok(path))["late_cancel"] is False
    await desk.loaded(a_studio(desk.caller.studio_id, late_window_minutes=240))
    await desk.loaded(a_studio(desk.caller.studio_id))
    assert (await desk.ok(path))["late_cancel"] is True


async def test_the_first_who_waits_gets_the_seat_with_the_same_booking(desk: Desk) -> None:
    """Promotion keeps the booking's id, charges then, closes the ranks, and tells everyone concerned."""
    people = await rich(desk, 4)
    class_ = a_class(credit_cost=1)
    await desk.loaded(class_)
    bookings = await seated(desk, class_, people)
    assert [await credits_of(desk, person) for person in people] == [9, 10, 10, 10]
    before = len(await desk.events())
    await desk.cancel(bookings[0]["id"])
    shown = [await desk.ok(f"/bookings/{booking['id']}") for booking in bookings]
    assert [row["status"] for row in shown] == ["cancelled", "confirmed", "waitlisted", "waitlisted"]
    assert [row["waitlist_position"] for row in shown] == [None, None, 1, 2]
    assert [await credits_of(desk, person) for person in people] == [10, 9, 10, 10]
    entries = (await desk.ok("/waitlist", class_id=class_["id"]))["data"]
    assert [(entry["status"], entry["position"]) for entry in entries] == [
        ("converted", 1),
        ("waiting", 1),
        ("waiting", 2),
    ]
    assert [entry["converted_to_booking"] for entry in entries] == [True, False, False]
    told = [(event["type"], event["resource"]["version"]) for event in (await desk.events())[before:]]
    assert told == [
        ("booking.cancelled", 2),
        ("booking.confirmed", 2),
        ("waitlist.updated", 2),
        ("waitlist.updated", 2),
        ("waitlist.updated", 2),
    ]


async def test_whoever_may_no_longer_book_is_skipped(desk: Desk) -> None:
    """A skipped entry is final, its booking cancelled without a fee; the next in the queue gets the seat."""
    people = [a_member() for _ in range(3)]
    cards = [a_membership(person["id"]) for person in people]
    class_ = a_class(credit_cost=1)
    await desk.loaded(class_, *people, *cards)
    bookings = await seated(desk, class_, people)
    await desk.staff.call("POST", f"/staff/memberships/{cards[1]['id']}/pause", {"reason": "travel"})
    await desk.cancel(bookings[0]["id"])
    statuses = [(await desk.ok(f"/bookings/{booking['id']}"))["status"] for booking in bookings]
    assert statuses == ["cancelled", "cancelled", "confirmed"]
    entries = (await desk.ok("/waitlist", class_id=class_["id"]))["data"]
    assert [entry["status"] for entry in entries] == ["skipped", "converted"]
    again = await desk.cancel(bookings[1]["id"])
    assert again.details["receipt"]["late_fee_status"] == "none"


async def test_leaving_the_queue_is_never_late_and_those_behind_move_up(desk: Desk) -> None:
    """Also inside the late window, under a policy that would charge."""
    studio = a_studio(desk.caller.studio_id, late_fee_amount="15", late_fee_currency="USD")
    class_, people = a_class(start_time=soon(hours=2)), [a_member() for _ in range(4)]
    await desk.loaded(studio, class_, *people)
    bookings = await seated(desk, class_, people)
    receipt = (await desk.cancel(bookings[1]["id"])).json
    assert (receipt["late_cancel"], receipt["late_fee_status"]) == (False, "none")
    entries = (await desk.ok("/waitlist", class_id=class_["id"]))["data"]
    assert [(entry["status"], entry["position"]) for entry in entries] == [
        ("cancelled", 1),
        ("waiting", 1),
        ("waiting", 2),
    ]


async def test_a_late_promotion_cancels_free_until_the_start(desk: Desk) -> None:
    """Whoever got the seat inside the late window had no chance to give it back in time."""
    studio = a_studio(desk.caller.studio_id, late_fee_amount="15", late_fee_currency="USD")
    start = soon(hours=2)
    class_, people = a_class(start_time=start), [a_member() for _ in range(2)]
    await desk.loaded(studio, class_, *people)
    bookings = await seated(desk, class_, people)
    first = (await desk.cancel(bookings[0]["id"])).json
    second = (await desk.cancel(bookings[1]["id"])).json
    assert (first["late_fee_status"], second["late_fee_status"]) == ("assessed", "none")
    assert second["late_cancel"] is False
    assert second["free_cancel_until"] == (await desk.ok(f"/classes/{class_['id']}"))["start_time"]


async def test_what_cannot_be_cancelled_says_so(desk: Desk) -> None:
    """Twice cancelled shows the first receipt; checked in, no-show and started are refused."""
    class_, people = a_class(capacity=4), [a_member() for _ in range(4)]
    await desk.loaded(class_, *people)
    bookings = await seated(desk, class_, people)
    receipt = (await desk.cancel(bookings[0]["id"], reason="ill")).json
    again = await desk.cancel(bookings[0]["id"])
    assert (again.status, again.code, again.details) == (
        409,
        "booking_already_cancelled",
        {"receipt": receipt},
    )
    await desk.staff.call("POST", f"/staff/bookings/{bookings[1]['id']}/check-in")
    reply = await desk.cancel(bookings[1]["id"])
    assert (reply.code, reply.details) == ("booking_not_cancellable", {"status": "checked_in"})
    times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
    await desk.staff.call("PATCH", f"/staff/classes/{class_['id']}", times)
    await desk.staff.call("POST", f"/staff/bookings/{bookings[2]['id']}/no-show")
    reply = await desk.cancel(bookings[2]["id"])
    assert (reply.code, reply.details) == ("booking_not_cancellable", {"status": "no_show"})
    started = await desk.cancel(bookings[3]["id"])
    assert (started.code, started.details) == ("booking_not_cancellable", {"status": "confirmed"})
    preview = await desk.get(f"/bookings/{bookings[3]['id']}/cancellation-preview")
    assert preview.code == "booking_not_cancellable"


async def test_a_freed_spot_goes_to_the_one_promoted(desk: Desk) -> None:
    """The lowest free spot, which may be the one just left."""
    class_, people = a_class(spot_selection_mode="required"), [a_member() for _ in range(2)]
    spot = {
        "object": "class_spot",
        "id": a_member()["id"],
        "class_id": class_["id"],
        "label": "A",
        "order": 1,
    }
    await desk.loaded(class_, spot, *people)
    first = (await desk.book(class_["id"], people[0]["id"], class_spot_id=spot["id"])).json
    second = (await desk.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    assert (second["status"], second["class_spot_id"]) == ("waitlisted", None)
    await desk.cancel(first["id"])
    assert (await desk.ok(f"/bookings/{second['id']}"))["class_spot_id"] == spot["id"]
