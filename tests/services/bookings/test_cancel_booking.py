"""Cancelling: the policy, the receipt, and promotion."""

from tests.services.bookings.samples import a_class, a_member, a_spot, a_studio, soon
from tests.services.bookings.studio_client import StudioClient


async def test_cancelling_in_time_costs_nothing_and_gives_the_credit_back(client: StudioClient) -> None:
    """The receipt has the deadline, and the seat is free again."""
    class_, (person,) = await client.open_class(rich=True, credit_cost=3)
    booking = (await client.book(class_["id"], person["id"])).json
    assert await client.credits_of(person) == 7
    preview = await client.get_ok(f"/bookings/{booking['id']}/cancellation-preview")
    receipt = (await client.cancel(booking["id"], reason="ill")).json
    assert receipt["object"] == "booking_cancellation" and receipt["status"] == "cancelled"
    assert (receipt["late_cancel"], receipt["late_fee_status"], receipt["reason"]) == (False, "none", "ill")
    assert (receipt["credits_restored"], receipt["credits_forfeited"]) == (3, 0)
    moving = {"id": None, "cancelled_at": None, "reason": None}
    assert preview | moving == receipt | moving
    assert await client.credits_of(person) == 10
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "cancelled"
    events = await client.events()
    told = [event["type"] for event in events]
    assert told == ["booking.created", "class.full", "booking.cancelled", "class.reopened"]
    assert events[-1]["data"]["object"] == await client.get_ok(f"/classes/{class_['id']}")


async def test_cancelling_late_is_assessed_and_forfeits(client: StudioClient) -> None:
    """Fee and forfeit follow the current policy; terms worse than accepted cancel nothing."""
    await client.import_all(client.with_late_fee)
    class_, (person,) = await client.open_class(rich=True, credit_cost=2, start_time=soon(hours=3))
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
    assert await client.credits_of(person) == 8


async def test_the_current_policy_applies(client: StudioClient) -> None:
    """A changed policy applies to older bookings too; a studio line without a policy changes nothing."""
    class_, person = a_class(start_time=soon(hours=3)), a_member()
    await client.import_all(class_, person, a_studio(client.caller.studio_id, late_window_minutes=60))
    booking = (await client.book(class_["id"], person["id"])).json
    path = f"/bookings/{booking['id']}/cancellation-preview"
    assert (await client.get_ok(path))["late_cancel"] is False
    await client.import_all(a_studio(client.caller.studio_id, late_window_minutes=240))
    await client.import_all(a_studio(client.caller.studio_id))
    preview = await client.get_ok(path)
    assert (preview["late_cancel"], preview["late_fee_status"]) == (True, "none")


async def test_a_freed_spot_goes_to_the_one_promoted(client: StudioClient) -> None:
    """The first free spot, which may be the one just freed. Nobody needs one to join the waitlist."""
    class_, people = a_class(spot_selection_mode="required"), [a_member() for _ in range(3)]
    spot = a_spot(class_["id"])
    await client.import_all(class_, spot, *people)
    first = (await client.book(class_["id"], people[0]["id"], class_spot_id=spot["id"])).json
    second = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    wish = {"join_waitlist": True, "class_spot_id": spot["id"]}
    third = (await client.book(class_["id"], people[2]["id"], **wish)).json
    for waiting in (second, third):
        assert (waiting["status"], waiting["class_spot_id"]) == ("waitlisted", None)
    await client.cancel(first["id"])
    assert (await client.get_ok(f"/bookings/{second['id']}"))["class_spot_id"] == spot["id"]
