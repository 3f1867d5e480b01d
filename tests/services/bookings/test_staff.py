"""What staff do to classes, bookings, memberships and purchases."""

import pytest

from shared.wire import new_id
from tests.services.bookings.consistency import IMPORTED, failed_checks
from tests.services.bookings.samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_studio,
    soon,
)
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich, seated


async def test_staff_make_a_class_that_partners_book(client: StudioClient) -> None:
    """Created once per id; a class that ends before it starts is 422."""
    body = {"id": new_id(), "title": "Spin", "start_time": soon(days=1), "end_time": soon(days=1, hours=1)}
    made = await client.staff.call("POST", "/staff/classes", body | {"capacity": 3})
    assert (made.status, made.json["available_count"]) == (201, 3)
    assert made.json == await client.get_ok(f"/classes/{body['id']}")
    again = await client.staff.call("POST", "/staff/classes", body | {"capacity": 3})
    assert (again.status, again.code) == (409, "class_exists")
    upside_down = body | {"capacity": 1, "id": new_id(), "end_time": soon(hours=1)}
    assert (await client.staff.call("POST", "/staff/classes", upside_down)).status == 422
    assert (await client.call("POST", "/staff/classes", body | {"capacity": 3})).status == 404


@pytest.mark.parametrize("by_import", [False, True], ids=["by staff", "by an import without events"])
async def test_cancelling_a_class_releases_everybody_and_charges_nobody(
    client: StudioClient, by_import: bool
) -> None:
    """Credits are returned, fees waived, the waitlist cancelled; by staff, each change has an event."""
    people = await rich(client, 3)
    fees = {"late_fee_amount": "15", "late_fee_currency": "USD", "forfeit_credit": True}
    class_ = a_class(capacity=2, credit_cost=4, start_time=soon(hours=1))
    await client.import_all(a_studio(client.caller.studio_id, **fees), class_)
    bookings = await seated(client, class_, people)
    before = len(await client.events())
    path = f"/staff/classes/{class_['id']}"
    if by_import:
        await client.import_all(class_ | {"status": "cancelled"})
    else:
        await client.staff.call("POST", f"{path}/cancel", {"reason": "storm"})
    shown = await client.get_ok(f"/classes/{class_['id']}")
    assert (shown["status"], shown["booked_count"]) == ("cancelled", 0)
    assert {row["status"] for row in await client.list_all("/bookings")} == {"cancelled"}
    assert {row["status"] for row in await client.list_all("/waitlist")} == {"cancelled"}
    assert [await credits_of(client, person) for person in people] == [10, 10, 10]
    receipt = (await client.cancel(bookings[0]["id"])).details["receipt"]
    assert (receipt["late_fee_status"], receipt["late_fee_amount"]) == ("waived", None)
    assert (receipt["reason"], receipt["credits_restored"]) == (None if by_import else "storm", 4)
    told = [event["type"] for event in (await client.events())[before:]]
    all_told = ["booking.cancelled"] * 3 + ["waitlist.updated", "class.cancelled"]
    assert told == ([] if by_import else all_told)
    for again in (
        await client.staff.call("POST", f"{path}/cancel", {}),
        await client.staff.call("PATCH", path, {"capacity": 9}),
    ):
        assert (again.status, again.code) == (409, "invalid_state_transition")
    assert await failed_checks(client, *IMPORTED) == []


async def test_staff_check_in_undo_and_mark_no_shows(client: StudioClient) -> None:
    """Only allowed transitions. A no-show is possible only after the start. `booked_count` counts seats."""
    class_, people = a_class(), [a_member() for _ in range(2)]
    await client.import_all(class_, *people)
    first, second = await seated(client, class_, people)

    async def move(booking_id: str, name: str) -> tuple[int, str | None]:
        reply = await client.staff.call("POST", f"/staff/bookings/{booking_id}/{name}")
        return reply.status, reply.json.get("status") or reply.code

    assert await move(first["id"], "undo-check-in") == (409, "invalid_state_transition")
    assert await move(first["id"], "check-in") == (200, "checked_in")
    assert await move(first["id"], "no-show") == (409, "invalid_state_transition")
    assert await move(first["id"], "undo-check-in") == (200, "confirmed")
    assert await move(second["id"], "check-in") == (409, "invalid_state_transition")
    assert await move(first["id"], "no-show") == (409, "invalid_state_transition")
    times = {"start_time": soon(seconds=-1), "end_time": soon(hours=1)}
    await client.staff.call("PATCH", f"/staff/classes/{class_['id']}", times)
    before = len(await client.events())
    assert await move(first["id"], "no-show") == (200, "no_show")
    told = [event["type"] for event in (await client.events())[before:]]
    assert told == ["booking.no_show", "class.reopened"]
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert await move(first["id"], "check-in") == (200, "checked_in")
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1
    assert await move(new_id(), "check-in") == (404, "not_found")


async def test_nobody_is_checked_in_to_a_cancelled_class(client: StudioClient) -> None:
    """A no-show stays a no-show if the class is cancelled afterwards: it has no seats any more."""
    class_, member = a_class(start_time=soon(seconds=1)), a_member()
    await client.import_all(class_, member)
    (booking,) = await seated(client, class_, [member])
    await client.import_all(class_ | {"start_time": soon(seconds=-1)}, booking | {"status": "no_show"})
    assert (await client.staff.call("POST", f"/staff/classes/{class_['id']}/cancel", {})).status == 200
    reply = await client.staff.call("POST", f"/staff/bookings/{booking['id']}/check-in")
    assert (reply.status, reply.details["allowed"]) == (409, [])
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 0


async def test_memberships_are_paused_resumed_and_cancelled(client: StudioClient) -> None:
    """`state_version` grows by one with each change. Transitions that are not allowed are refused."""
    member = a_member()
    card, dated = a_membership(member["id"]), a_membership(member["id"], ends_at=soon(days=30))
    await client.import_all(member, card, dated)
    path = f"/staff/memberships/{card['id']}"
    paused = (await client.staff.call("POST", f"{path}/pause", {"reason": "travel"})).json
    assert (paused["status"], paused["state_version"], paused["pause"]["reason"]) == ("paused", 2, "travel")
    again = await client.staff.call("POST", f"{path}/pause", {})
    assert again.details["allowed"] == ["active", "cancelled"]
    resumed = (await client.staff.call("POST", f"{path}/resume")).json
    assert (resumed["status"], resumed["state_version"], resumed["pause"]) == ("active", 3, None)
    ended = (await client.staff.call("POST", f"{path}/cancel", {"reason": "moved"})).json
    assert (ended["status"], ended["auto_renew"]) == ("cancelled", False)
    assert ended["cancellation"]["at_period_end"] is False
    later = await client.staff.call(
        "POST", f"/staff/memberships/{dated['id']}/cancel", {"at_period_end": True}
    )
    assert (later.json["status"], later.json["auto_renew"]) == ("active", False)
    assert later.json["cancellation"]["effective_at"] is not None
    assert await client.get_ok(f"/memberships/{card['id']}") == ended
    listed = await client.list_all(f"/members/{member['id']}/memberships", limit=1)
    assert [row["id"] for row in listed] == [card["id"], dated["id"]]


async def test_a_recorded_purchase_grants_its_credits(client: StudioClient) -> None:
    """quantity × the product's credits, once; a pending one grants nothing until it is imported completed."""
    product, member = a_product(3), a_member()
    await client.import_all(product, member)
    body = {"id": new_id(), "member_id": member["id"], "product_id": product["id"], "quantity": 2}
    made = await client.staff.call("POST", "/staff/purchases", body | {"amount_total": "50"})
    assert (made.status, made.json["amount_total"]) == (201, "50.00")
    assert made.json["product_key"] == product["key"]
    assert await credits_of(client, member) == 6
    assert (await client.staff.call("POST", "/staff/purchases", body)).code == "purchase_exists"
    pending = a_purchase(member["id"], product, status="pending")
    await client.import_all(pending)
    assert await credits_of(client, member) == 6
    await client.import_all(pending | {"status": "completed"})
    await client.import_all(pending | {"status": "completed", "quantity": 9})
    assert await credits_of(client, member) == 9
    for field in ("member_id", "product_id"):
        unknown = await client.staff.call(
            "POST", "/staff/purchases", body | {"id": new_id(), field: new_id()}
        )
        assert (unknown.status, unknown.json["error"]["param"]) == (404, field)
