"""What staff do to classes, bookings, memberships and purchases, and the events of it."""

from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product, a_purchase, soon
from tests.services.bookings.studio_client import StudioClient


async def test_staff_make_a_class_that_partners_book(client: StudioClient) -> None:
    """Created once per id; a class that ends when it starts is 422."""
    body = {"id": new_id(), "title": "Spin", "start_time": soon(days=1), "end_time": soon(days=1, hours=1)}
    made = await client.staff.call("POST", "/staff/classes", body | {"capacity": 3})
    assert (made.status, made.json["available_count"]) == (201, 3)
    assert made.json == await client.get_ok(f"/classes/{body['id']}")
    (event,) = await client.events()
    assert (event["type"], event["data"]) == ("class.created", {"object": made.json})
    again = await client.staff.call("POST", "/staff/classes", body | {"capacity": 3})
    assert (again.status, again.code) == (409, "class_exists")
    without_length = body | {"capacity": 1, "id": new_id(), "end_time": body["start_time"]}
    assert (await client.staff.call("POST", "/staff/classes", without_length)).status == 422
    assert (await client.call("POST", "/staff/classes", body | {"capacity": 3})).status == 404


async def test_a_changed_class_tells_its_old_values(client: StudioClient) -> None:
    """Counts are no change of the class, and a change without effect has no event."""
    class_, _ = await client.open_class(people=0)
    before = await client.get_ok(f"/classes/{class_['id']}")
    await client.change_class(class_, title="Slow", capacity=2)
    (updated,) = await client.events()
    assert updated["type"] == "class.updated"
    assert updated["data"]["previous"] == {"title": before["title"], "capacity": 1}
    assert updated["data"]["object"] == await client.get_ok(f"/classes/{class_['id']}")
    await client.change_class(class_, title="Slow")
    await client.change_class(class_, capacity=0)
    assert [event["type"] for event in (await client.events())[1:]] == ["class.full", "class.updated"]


async def test_a_class_that_moves_creates_events_for_both_locations(client: StudioClient) -> None:
    """With its bookings and its waitlist. A key that cannot see the new location gets only `{id, object}`."""
    old, new, people = new_id(), new_id(), [a_member() for _ in range(2)]
    class_ = a_class(location_id=old)
    await client.import_all(class_, *people)
    booking, _ = await client.seated(class_, people)
    since = len(await client.events())
    await client.change_class(class_, location_id=new)
    events = (await client.events())[since:]
    kinds = ["class.updated"] * 2 + ["booking.updated"] * 4 + ["waitlist.updated"] * 2
    assert sorted(event["type"] for event in events) == sorted(kinds)
    for event in events:
        thin = set(event["data"]["object"]) == {"id", "object"}
        assert (event["location_id"] == old) is thin
        assert event.get("audience") == ("left_location" if thin else None)
        assert event.get("moved_to") == (new if thin else None)
    (whole,) = (
        event for event in events if event["resource"]["id"] == booking["id"] and event["location_id"] == new
    )
    assert whole["data"]["object"] == await client.get_ok(f"/bookings/{booking['id']}")
    assert whole["resource"]["version"] == 2


async def test_a_class_that_the_studio_cancels_costs_nobody_anything(client: StudioClient) -> None:
    """Late or not: the fee is waived and the credits come back. It cannot be changed afterwards."""
    await client.import_all(client.with_late_fee)
    start = soon(hours=1)
    class_, people = await client.open_class(people=2, rich=True, credit_cost=4, start_time=start)
    bookings = await client.seated(class_, people)
    before = len(await client.events())
    await client.cancel_class(class_, reason="storm")
    receipt = (await client.cancel(bookings[0]["id"])).details["receipt"]
    assert (receipt["late_fee_status"], receipt["late_fee_amount"]) == ("waived", None)
    assert (receipt["reason"], receipt["credits_restored"]) == ("storm", 4)
    told = [event["type"] for event in (await client.events())[before:]]
    assert told == ["booking.cancelled"] * 2 + ["waitlist.updated", "class.cancelled"]
    for again in (await client.cancel_class(class_), await client.change_class(class_, capacity=9)):
        assert (again.status, again.code) == (409, "invalid_state_transition")
    assert await inconsistencies(client) == []


async def test_staff_check_in_undo_and_mark_no_shows(client: StudioClient) -> None:
    """Only allowed transitions; a no-show only after the start. An undone check-in tells the old values."""
    class_, people = await client.open_class(people=2)
    first, second = await client.seated(class_, people)

    async def move(booking_id: str, name: str) -> tuple[int, str | None]:
        reply = await client.staff.call("POST", f"/staff/bookings/{booking_id}/{name}")
        return reply.status, reply.json.get("status") or reply.code

    assert await move(first["id"], "undo-check-in") == (409, "invalid_state_transition")
    assert await move(first["id"], "check-in") == (200, "checked_in")
    assert await move(first["id"], "no-show") == (409, "invalid_state_transition")
    assert await move(first["id"], "undo-check-in") == (200, "confirmed")
    checked, undone = (await client.events())[-2:]
    assert (checked["type"], undone["type"]) == ("booking.checked_in", "booking.updated")
    before = {"status": "checked_in", "updated_at": checked["data"]["object"]["updated_at"]}
    assert undone["data"] == {"object": await client.get_ok(f"/bookings/{first['id']}"), "previous": before}
    assert await move(second["id"], "check-in") == (409, "invalid_state_transition")
    assert await move(first["id"], "no-show") == (409, "invalid_state_transition")
    await client.begin_class(class_)
    assert await move(first["id"], "no-show") == (200, "no_show")
    told = [event["type"] for event in (await client.events())[-2:]]
    assert told == ["booking.no_show", "class.reopened"]
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert await move(first["id"], "check-in") == (200, "checked_in")
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1
    assert await move(new_id(), "check-in") == (404, "not_found")


async def test_nobody_is_checked_in_to_a_cancelled_class(client: StudioClient) -> None:
    """A no-show stays a no-show if the class is cancelled afterwards: it has no seats any more."""
    class_, (member,) = await client.open_class(start_time=soon(seconds=1))
    (booking,) = await client.seated(class_, [member])
    await client.import_all(class_ | {"start_time": soon(seconds=-1)}, booking | {"status": "no_show"})
    assert (await client.cancel_class(class_)).status == 200
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
    product, member, location = a_product(3), a_member(), new_id()
    await client.import_all(product, member)
    body = {"id": new_id(), "member_id": member["id"], "product_id": product["id"], "quantity": 2}
    body |= {"location_id": location}
    made = await client.staff.call("POST", "/staff/purchases", body | {"amount_total": "50"})
    assert (made.status, made.json["amount_total"]) == (201, "50.00")
    assert made.json["product_key"] == product["key"]
    (event,) = await client.events()
    assert (event["type"], event["data"]) == ("purchase.created", {"object": made.json})
    assert event["location_id"] == location
    assert await client.credits_of(member) == 6
    assert (await client.staff.call("POST", "/staff/purchases", body)).code == "purchase_exists"
    pending = a_purchase(member["id"], product, status="pending")
    await client.import_all(pending)
    assert await client.credits_of(member) == 6
    await client.import_all(pending | {"status": "completed"})
    await client.import_all(pending | {"status": "completed", "quantity": 9})
    assert await client.credits_of(member) == 9
    for field in ("member_id", "product_id"):
        unknown = await client.staff.call(
            "POST", "/staff/purchases", body | {"id": new_id(), field: new_id()}
        )
        assert (unknown.status, unknown.json["error"]["param"]) == (404, field)


async def test_members_are_found_by_email_and_shown_with_phone_and_credits(client: StudioClient) -> None:
    """Whatever the spelling of the email. Partners see no phone."""
    product, ada, bea = a_product(3), a_member(phone="+12125550123", suspended=True), a_member()
    await client.import_all(product, ada, bea, a_purchase(ada["id"], product))
    (found,) = (await client.staff.get_ok("/staff/members", email=ada["email"].upper()))["data"]
    assert (found["phone"], found["suspended"], found["credits"]) == ("+12125550123", True, 3)
    assert found == await client.staff.get_ok(f"/staff/members/{ada['id']}")
    everybody = await client.staff.list_all("/staff/members", limit=1)
    assert [row["id"] for row in everybody] == [ada["id"], bea["id"]]
    assert "phone" not in await client.get_ok(f"/members/{ada['id']}")


async def test_staff_lists_are_the_partners_lists_over_the_whole_studio(client: StudioClient) -> None:
    """The same rows and filters as with a key that sees every location, which gets 404 here."""
    product, member = a_product(), a_member()
    late, soon_ = a_class(start_time=soon(days=9)), a_class(start_time=soon(days=1))
    card, bought = a_membership(member["id"]), a_purchase(member["id"], product)
    await client.import_all(product, member, late, soon_, card, bought)
    await client.book(soon_["id"], member["id"])
    for path in (
        "/classes",
        f"/classes/{late['id']}",
        f"/members/{member['id']}/memberships",
        f"/memberships/{card['id']}",
        "/purchases",
        f"/purchases/{bought['id']}",
        "/waitlist",
    ):
        assert await client.staff.get_ok(f"/staff{path}") == await client.get_ok(path)
        assert (await client.get(f"/staff{path}")).status == 404
    assert (await client.get("/staff/members")).status == 404
    (with_names,) = await client.staff.list_all("/staff/bookings")
    (booking,) = await client.list_all("/bookings")
    assert booking.items() <= with_names.items()
    filtered = await client.staff.get_ok("/staff/classes", starts_after=soon(days=5).isoformat())
    assert [row["id"] for row in filtered["data"]] == [late["id"]]
    filtered = await client.staff.get_ok("/staff/purchases", member_id=new_id())
    assert filtered["data"] == []
