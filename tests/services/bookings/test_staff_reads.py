"""What staff read where they write: classes, rosters, members, memberships and purchases of their studio."""

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product, a_purchase, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import seated


async def test_a_roster_names_who_is_seated_and_who_waits(client: StudioClient) -> None:
    """With names and places on the waitlist; a cancelled booking shows only when its status is asked for."""
    class_ = a_class(capacity=2)
    people = [a_member(first_name=name, last_name="B") for name in ("Ann", "Bea", "Cleo")]
    await client.import_all(class_, *people)
    bookings = await seated(client, class_, people)
    path = f"/staff/classes/{class_['id']}/roster"
    rows = await client.staff.list_all(path, limit=1)
    shown = [(row["member_name"], row["status"], row["waitlist_position"]) for row in rows]
    assert shown == [("Ann B", "confirmed", None), ("Bea B", "confirmed", None), ("Cleo B", "waitlisted", 1)]
    assert [row["member_email"] for row in rows] == [person["email"] for person in people]
    await client.cancel(bookings[0]["id"])
    assert [row["member_name"] for row in await client.staff.list_all(path)] == ["Bea B", "Cleo B"]
    cancelled = await client.staff.list_all(path, status="cancelled")
    assert [row["member_name"] for row in cancelled] == ["Ann B"]
    assert (await client.staff.get(f"/staff/classes/{new_id()}/roster")).status == 404


async def test_members_are_found_by_email_and_shown_with_phone_and_credits(client: StudioClient) -> None:
    """Whatever the spelling of the email. An unknown one finds nobody; a malformed one is 422."""
    product, ada, bea = a_product(3), a_member(phone="+12125550123", suspended=True), a_member()
    await client.import_all(product, ada, bea, a_purchase(ada["id"], product))
    (found,) = (await client.staff.get_ok("/staff/members", email=ada["email"].upper()))["data"]
    assert (found["phone"], found["suspended"], found["credits"]) == ("+12125550123", True, 3)
    assert found == await client.staff.get_ok(f"/staff/members/{ada['id']}")
    everybody = await client.staff.list_all("/staff/members", limit=1)
    assert [row["id"] for row in everybody] == [ada["id"], bea["id"]]
    assert (await client.staff.get_ok("/staff/members", email="no@example.com"))["data"] == []
    assert (await client.staff.get("/staff/members", email="nobody")).status == 422
    assert "phone" not in await client.get_ok(f"/members/{ada['id']}")


async def test_staff_lists_are_the_partners_lists_over_the_whole_studio(client: StudioClient) -> None:
    """The same rows and filters as with a key that sees every location."""
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
    (with_names,) = await client.staff.list_all("/staff/bookings")
    (booking,) = await client.list_all("/bookings")
    assert booking.items() <= with_names.items()
    filtered = await client.staff.get_ok("/staff/classes", starts_after=soon(days=5).isoformat())
    assert [row["id"] for row in filtered["data"]] == [late["id"]]
    filtered = await client.staff.get_ok("/staff/purchases", member_id=new_id())
    assert filtered["data"] == []


async def test_a_partners_key_cannot_use_staff_routes(client: StudioClient) -> None:
    """A partner's caller gets 404, whatever its scopes."""
    for path in ("/staff/members", "/staff/classes", "/staff/purchases"):
        assert (await client.get(path)).status == 404


async def test_the_desk_cancels_a_booking_once(client: StudioClient) -> None:
    """Under the studio's policy, with a receipt; the waitlist moves up; repeating it is 409 with it."""
    class_, people = a_class(), [a_member(), a_member()]
    await client.import_all(class_, *people)
    first, second = await seated(client, class_, people)
    path = f"/staff/bookings/{first['id']}/cancel"
    receipt = (await client.staff.call("POST", path, {"reason": "called"})).json
    assert (receipt["status"], receipt["reason"]) == ("cancelled", "called")
    assert receipt["booking_id"] == first["id"]
    assert (await client.get_ok(f"/bookings/{second['id']}"))["status"] == "confirmed"
    again = await client.staff.call("POST", path, {})
    assert (again.code, again.details["receipt"]["id"]) == ("booking_already_cancelled", receipt["id"])
