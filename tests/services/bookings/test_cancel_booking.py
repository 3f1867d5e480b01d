"""Cancelling: the policy, the receipt, and promotion."""

from typing import Any

from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, a_spot, a_studio, soon
from tests.services.bookings.studio_client import StudioClient


async def seated(client: StudioClient, class_: Any, people: list[Any]) -> list[Any]:
    """Books all of them in order; those without a seat join the waitlist."""
    replies = [await client.book(class_["id"], person["id"], join_waitlist=True) for person in people]
    assert {reply.status for reply in replies} == {201}
    return [reply.json for reply in replies]


async def rich(client: StudioClient, count: int) -> list[Any]:
    """Members with ten credits each."""
    product, people = a_product(10), [a_member() for _ in range(count)]
    await client.import_all(product, *people, *(a_purchase(person["id"], product) for person in people))
    return people


async def credits_of(client: StudioClient, member: Any) -> int:
    return int((await client.staff.get_ok(f"/staff/members/{member['id']}"))["credits"])


async def test_cancelling_in_time_costs_nothing_and_gives_the_credit_back(client: StudioClient) -> None:
    """The receipt has the deadline, and the seat is free again."""
    (person,) = await rich(client, 1)
    class_ = a_class(credit_cost=3)
    await client.import_all(class_)
    booking = (await client.book(class_["id"], person["id"])).json
    assert await credits_of(client, person) == 7
    preview = await client.get_ok(f"/bookings/{booking['id']}/cancellation-preview")
    receipt = (await client.cancel(booking["id"], reason="ill")).json
    assert receipt["object"] == "booking_cancellation" and receipt["status"] == "cancelled"
    assert (receipt["late_cancel"], receipt["late_fee_status"], receipt["reason"]) == (False, "none", "ill")
    assert (receipt["credits_restored"], receipt["credits_forfeited"]) == (3, 0)
    moving = {"id": None, "cancelled_at": None, "reason": None}
    assert preview | moving == receipt | moving
    assert await credits_of(client, person) == 10
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "cancelled"
    events = await client.events()
    told = [event["type"] for event in events]
    assert told == ["booking.created", "class.full", "booking.cancelled", "class.reopened"]
    assert events[-1]["data"]["object"] == await client.get_ok(f"/classes/{class_['id']}")


async def test_cancelling_late_is_assessed_and_forfeits(client: StudioClient) -> None:
    """Fee and forfeit follow the current policy; terms worse than accepted cancel nothing."""
    studio = a_studio(
        client.caller.studio_id, late_fee_amount="15", late_fee_currency="USD", forfeit_credit=True
    )
    (person,) = await rich(client, 1)
    class_ = a_class(credit_cost=2, start_time=soon(hours=3))
    await client.import_all(studio, class_)
    booking = (await client.book(class_["id"], person["id"])).json
    for limits in ({"max_late_fee": "14.99"}, {"allow_credit_forfeit": "false"}):
        reply = await client.cancel(booking["id"], **limits)
        assert reply.code == "cancellation_terms_changed"
        assert (reply.details["late_fee_amount"], reply.details["credits_forfeited"]) == ("15.00", 2)
    assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "confirmed"
    receipt = (await client.cancel(booking["id"], max_late_fee="15", allow_credit_forfeit="true")).json
    assert (receipt["late_cancel"], receipt["late_fee_status"]) == (True, "assessed")
    assert (receipt["late_fee_amount"], receipt["late_fee_currency"]) == ("15.00", "USD")
    assert (receipt["credit_forfeited"], receipt["credits_restored"]) == (True, 0)
    assert await credits_of(client, person) == 8


async def test_the_current_policy_applies(client: StudioClient) -> None:
    """A changed policy applies to older bookings too; a studio line without a policy changes nothing."""
    class_, person = a_class(start_time=soon(hours=3)), a_member()
    await client.import_all(class_, person, a_studio(client.caller.studio_id, late_window_minutes=60))
    booking = (await client.book(class_["id"], person["id"])).json
    path = f"/bookings/{booking['id']}/cancellation-preview"
    assert (await client.get_ok(path))["late_cancel"] is False
    await client.import_all(a_studio(client.caller.studio_id, late_window_minutes=240))
    await client.import_all(a_studio(client.caller.studio_id))
    assert (await client.get_ok(path))["late_cancel"] is True


async def test_the_first_on_the_waitlist_gets_the_seat_with_the_same_booking(client: StudioClient) -> None:
    """Promotion keeps the booking's id, charges credits, renumbers the waitlist and sends the events."""
    people = await rich(client, 4)
    class_ = a_class(credit_cost=1)
    await client.import_all(class_)
    bookings = await seated(client, class_, people)
    assert [await credits_of(client, person) for person in people] == [9, 10, 10, 10]
    before = len(await client.events())
    await client.cancel(bookings[0]["id"])
    shown = [await client.get_ok(f"/bookings/{booking['id']}") for booking in bookings]
    assert [row["status"] for row in shown] == ["cancelled", "confirmed", "waitlisted", "waitlisted"]
    assert [row["waitlist_position"] for row in shown] == [None, None, 1, 2]
    assert [await credits_of(client, person) for person in people] == [10, 9, 10, 10]
    entries = (await client.get_ok("/waitlist", class_id=class_["id"]))["data"]
    places = [(entry["status"], entry["position"]) for entry in entries]
    assert places == [("converted", 1), ("waiting", 1), ("waiting", 2)]
    assert [entry["converted_to_booking"] for entry in entries] == [True, False, False]
    told = [(event["type"], event["resource"]["version"]) for event in (await client.events())[before:]]
    assert told == [("booking.cancelled", 2), ("booking.confirmed", 2)] + [("waitlist.updated", 2)] * 3


async def test_a_no_show_is_not_cancelled_and_has_no_preview(client: StudioClient) -> None:
    """Neither is any booking of a class that has started."""
    class_, people = a_class(capacity=2), [a_member() for _ in range(2)]
    await client.import_all(class_, *people)
    bookings = await seated(client, class_, people)
    times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
    await client.staff.call("PATCH", f"/staff/classes/{class_['id']}", times)
    await client.staff.call("POST", f"/staff/bookings/{bookings[0]['id']}/no-show")
    for booking, status in zip(bookings, ("no_show", "confirmed"), strict=True):
        preview = await client.get(f"/bookings/{booking['id']}/cancellation-preview")
        for reply in (await client.cancel(booking["id"]), preview):
            assert (reply.code, reply.details) == ("booking_not_cancellable", {"status": status})


async def test_a_freed_spot_goes_to_the_one_promoted(client: StudioClient) -> None:
    """The first free spot, which may be the one just freed."""
    class_, people = a_class(spot_selection_mode="required"), [a_member() for _ in range(2)]
    spot = a_spot(class_["id"])
    await client.import_all(class_, spot, *people)
    first = (await client.book(class_["id"], people[0]["id"], class_spot_id=spot["id"])).json
    second = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    assert (second["status"], second["class_spot_id"]) == ("waitlisted", None)
    await client.cancel(first["id"])
    assert (await client.get_ok(f"/bookings/{second['id']}"))["class_spot_id"] == spot["id"]
