"""Holding a seat, confirming the hold in time or too late, giving it up, and its limits."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from services.bookings.wire.bookings import BookingStatus
from shared.routing import SCOPES
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, a_spot, a_studio, soon
from tests.services.bookings.studio_client import Reply, StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich
from tests.services.bookings.test_import import a_booking

# As if it had been made earlier. The database's clock decides, so that no test has to wait.
END = """
UPDATE bookings SET held_until = clock_timestamp() - interval '1 second',
    created_at = created_at - interval '1 minute', updated_at = updated_at - interval '1 minute'
WHERE id = $1 AND status = 'held'
"""


async def held(client: StudioClient, class_: Any, member: Any, **more: Any) -> Any:
    reply = await client.book(class_["id"], member["id"], **{"hold_seconds": 300, **more})
    assert reply.status == 201, reply.body
    assert reply.json["status"] == "held"
    return reply.json


async def run_out(client: StudioClient, *bookings: Any) -> None:
    """The loops are not running here: nobody writes that they have ended."""
    async with client.service.db.connection() as conn:
        for booking in bookings:
            assert await conn.execute(END, booking["id"]) == "UPDATE 1"


async def confirm(client: StudioClient, booking: Any, key: str | None = None) -> Reply:
    return await client.call("POST", f"/bookings/{booking['id']}/confirm", key=key or new_id())


async def shown(client: StudioClient, class_: Any) -> tuple[int, int, int]:
    """Booked, held and available, as GET and the list tell them."""
    one = await client.get_ok(f"/classes/{class_['id']}")
    (listed,) = await client.list_all("/classes", ids=class_["id"])
    assert one == listed
    return one["booked_count"], one["held_count"], one["available_count"]


def with_scopes(client: StudioClient, *scopes: str) -> StudioClient:
    return StudioClient(client.service, msgspec.structs.replace(client.caller, scopes=frozenset(scopes)))


async def told(client: StudioClient) -> list[str]:
    return [event["type"] for event in await client.events()]


async def test_a_hold_takes_the_seat_and_charges_nothing(client: StudioClient) -> None:
    """It has an end, counts as held and not as booked, and is told by a kind of its own."""
    (person,) = await rich(client, 1)
    class_ = a_class(credit_cost=3)
    await client.import_all(class_)
    booking = await held(client, class_, person, hold_seconds=30)
    end = datetime.fromisoformat(booking["held_until"])
    assert end - datetime.fromisoformat(booking["created_at"]) == timedelta(seconds=30)
    assert await client.get_ok(f"/bookings/{booking['id']}") == booking
    assert await shown(client, class_) == (0, 1, 0)
    assert await credits_of(client, person) == 10
    first, full = await client.events()
    assert (first["type"], first["data"]) == ("booking.held", {"object": booking})
    assert full["type"] == "class.full"
    assert full["data"]["object"] == await client.get_ok(f"/classes/{class_['id']}")
    assert await inconsistencies(client) == []


async def test_a_confirmed_hold_is_a_booking_like_any_other(client: StudioClient) -> None:
    """Same id, credits charged, told as created; a repeated confirm gives the same bytes."""
    (person,) = await rich(client, 1)
    class_ = a_class(credit_cost=3)
    await client.import_all(class_)
    booking, key = await held(client, class_, person), new_id()
    assert await client.list_all("/bookings") == []
    first, again = [await confirm(client, booking, key) for _ in range(2)]
    assert (first.status, again.body, again.replayed) == (200, first.body, True)
    changed = {"status": "confirmed", "held_until": None, "updated_at": first.json["updated_at"]}
    assert first.json == booking | changed
    assert await client.list_all("/bookings") == [first.json]
    assert await shown(client, class_) == (1, 0, 0)
    assert await credits_of(client, person) == 7
    assert await told(client) == ["booking.held", "class.full", "booking.created"]
    assert (await confirm(client, booking)).code == "booking_not_held"
    assert (await client.cancel(booking["id"])).json["credits_restored"] == 3
    assert [row["status"] for row in await client.list_all("/bookings")] == ["cancelled"]
    assert await inconsistencies(client) == []


async def test_who_is_about_to_pay_may_hold_and_confirms_once_paid(client: StudioClient) -> None:
    """Confirm checks in full and leaves the hold as it is; a purchase cures what was missing."""
    product, person, class_ = a_product(5), a_member(), a_class(credit_cost=2)
    await client.import_all(product, person, class_)
    assert (await client.book(class_["id"], person["id"])).code == "member_not_eligible"
    booking = await held(client, class_, person)
    refused = await confirm(client, booking)
    assert (refused.status, refused.code) == (409, "member_not_eligible")
    assert refused.details == {"reasons": ["no_membership_or_credits"]}
    assert await client.get_ok(f"/bookings/{booking['id']}") == booking
    await client.import_all(a_purchase(person["id"], product))
    assert (await confirm(client, booking)).json["status"] == "confirmed"
    assert await credits_of(client, person) == 3


async def test_a_suspended_member_may_not_hold(client: StudioClient) -> None:
    """No payment cures that."""
    person, class_ = a_member(suspended=True), a_class(credit_cost=1)
    await client.import_all(person, class_)
    reply = await client.book(class_["id"], person["id"], hold_seconds=60)
    assert (reply.code, reply.details) == ("member_not_eligible", {"reasons": ["member_suspended"]})


@pytest.mark.parametrize("seconds", [29, 901, 0, -1, 60.5, "60", True, 2**70])
async def test_a_bad_length_is_422(client: StudioClient, seconds: Any) -> None:
    """Also in a preview."""
    body = {"class_id": new_id(), "member_id": new_id(), "hold_seconds": seconds}
    for path in ("/bookings", "/bookings/preview"):
        reply = await client.call("POST", path, body, key=new_id())
        assert reply.status == 422
        assert [one["loc"] for one in reply.json["detail"]] == [["body", "hold_seconds"]]


async def test_a_place_on_the_waitlist_is_not_held(client: StudioClient) -> None:
    """422 beside every other problem; null is not given."""
    class_, person = a_class(), a_member()
    await client.import_all(class_, person)
    body = {"class_id": class_["id"], "member_id": person["id"], "join_waitlist": True, "hold_seconds": 60}
    for path in ("/bookings", "/bookings/preview"):
        reply = await client.call("POST", path, body, key=new_id())
        assert [one["loc"] for one in reply.json["detail"]] == [["body", "hold_seconds"]]
        both = await client.call("POST", path, body | {"class_id": "x"}, key=new_id())
        assert {tuple(one["loc"]) for one in both.json["detail"]} == {
            ("body", "class_id"),
            ("body", "hold_seconds"),
        }
    reply = await client.call("POST", "/bookings", body | {"hold_seconds": None}, key=new_id())
    assert reply.json["status"] == "confirmed"


async def test_a_second_booking_of_the_member_is_refused(client: StudioClient) -> None:
    """Also a second hold, and a wish to wait."""
    class_, person = a_class(capacity=6), a_member()
    await client.import_all(class_, person)
    booking = await held(client, class_, person)
    for more in ({}, {"hold_seconds": 60}, {"join_waitlist": True}):
        reply = await client.book(class_["id"], person["id"], **more)
        assert (reply.code, reply.details) == ("already_held", {"booking_id": booking["id"]})


async def test_a_full_class_tells_when_the_next_hold_ends(client: StudioClient) -> None:
    """Only where there are holds; the waitlist is open as before."""
    class_, people = a_class(capacity=2), [a_member() for _ in range(4)]
    await client.import_all(class_, *people)
    later = await held(client, class_, people[0], hold_seconds=900)
    reply = await client.with_key(client_id=new_id()).book(class_["id"], people[1]["id"], hold_seconds=60)
    full = await client.book(class_["id"], people[2]["id"])
    plain = {"capacity": 2, "booked_count": 0, "allow_waitlist": True, "waitlist_count": 0}
    assert full.details == plain | {"held_count": 2, "next_hold_ends_at": reply.json["held_until"]}
    assert reply.json["held_until"] < later["held_until"]
    waits = await client.book(class_["id"], people[2]["id"], join_waitlist=True)
    assert waits.json["status"] == "waitlisted"
    assert (await client.book(class_["id"], people[3]["id"], hold_seconds=60)).code == "class_full"


async def test_a_member_has_two_holds_of_a_class_in_a_day(client: StudioClient) -> None:
    """By whichever client and however they ended; the answer tells when the next one may begin."""
    class_, person = a_class(capacity=9), a_member()
    await client.import_all(class_, person)
    first = await held(client, class_, person)
    await client.cancel(first["id"])
    second = await held(client.with_key(client_id=new_id()), class_, person)
    await run_out(client, second)
    reply = await client.book(class_["id"], person["id"], hold_seconds=60)
    began = await client.get_ok(f"/bookings/{second['id']}")
    oldest = min(first["created_at"], began["created_at"])
    retry_at = datetime.fromisoformat(oldest) + timedelta(hours=24)
    assert reply.code == "too_many_holds"
    assert datetime.fromisoformat(reply.details["retry_at"]) == retry_at
    assert (await client.book(class_["id"], person["id"])).status == 201, "a booking is no hold"


async def test_a_client_holds_a_third_of_the_seats_at_once(client: StudioClient) -> None:
    """At least one; another client has its own share, an operator may set it; all at once or one by one."""
    people = [a_member() for _ in range(8)]
    small, large, other = a_class(capacity=2), a_class(capacity=7), a_class(capacity=6)
    await client.import_all(small, large, other, *people)
    await held(client, small, people[0])
    assert (await client.book(small["id"], people[1]["id"], hold_seconds=60)).details == {"limit": 1}
    replies = await asyncio.gather(
        *(client.book(large["id"], person["id"], hold_seconds=60) for person in people[:5])
    )
    codes = [reply.code for reply in replies if reply.status != 201]
    assert codes == ["too_many_holds"] * 3
    assert {reply.details["limit"] for reply in replies if reply.status != 201} == {2}
    await held(client.with_key(client_id=new_id()), large, people[6])
    for share, most in (("0.5", 3), ("0", 1), ("1", 6), ("0.29", 1)):
        caller = msgspec.structs.replace(client.caller, hold_share=share, client_id=new_id())
        partner = StudioClient(client.service, caller)
        holds: list[str] = []
        while (reply := await partner.book(other["id"], people[len(holds)]["id"], hold_seconds=60)).json.get(
            "id"
        ):
            holds.append(reply.json["id"])
        assert len(holds) == most
        async with client.service.db.transaction() as conn:
            await conn.execute("DELETE FROM bookings WHERE class_id = $1", other["id"])
            await conn.execute("UPDATE classes SET held_count = 0 WHERE id = $1", other["id"])


async def test_no_hold_outlasts_the_start(client: StudioClient) -> None:
    """It ends with the class's start, also when the start is moved."""
    class_, person = a_class(start_time=soon(minutes=5)), a_member()
    await client.import_all(class_, person)
    booking = await held(client, class_, person, hold_seconds=900)
    begins = (await client.get_ok(f"/classes/{class_['id']}"))["start_time"]
    assert booking["held_until"] == begins
    sooner = soon(minutes=3)
    path = f"/staff/classes/{class_['id']}"
    assert (await client.staff.call("PATCH", path, {"start_time": sooner})).status == 200
    now = await client.get_ok(f"/bookings/{booking['id']}")
    assert datetime.fromisoformat(now["held_until"]) == sooner
    event = next(event for event in await client.events() if event["type"] == "booking.updated")
    assert event["data"] == {"object": now, "previous": {"held_until": booking["held_until"]}}
    past = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
    assert (await client.staff.call("PATCH", path, past)).status == 200
    assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "expired"
    assert await inconsistencies(client) == []


async def test_a_hold_that_has_run_out_reads_as_it_will_be_stored(client: StudioClient) -> None:
    """Expired since its end: the bytes of the booking are the same before and after somebody writes it."""
    class_, person, other = a_class(capacity=3), a_member(), a_member()
    await client.import_all(class_, person, other)
    booking = await held(client, class_, person)
    await run_out(client, booking)
    before = await client.get(f"/bookings/{booking['id']}")
    assert (before.json["status"], before.json["held_until"]) == ("expired", None)
    assert await shown(client, class_) == (0, 0, 3)
    for status, rows in (("held", []), ("expired", [before.json]), ("confirmed", []), (None, [])):
        for query in ({}, {"class_id": class_["id"]}, {"member_id": person["id"]}):
            assert await client.list_all("/bookings", status=status, **query) == rows
    roster = f"/staff/classes/{class_['id']}/roster"
    assert await client.staff.list_all(roster) == []
    assert [row["id"] for row in await client.staff.list_all(roster, status="expired")] == [booking["id"]]
    preview = await client.get(f"/bookings/{booking['id']}/cancellation-preview")
    assert (preview.code, preview.details) == ("booking_not_cancellable", {"status": "expired"})
    assert (await client.book(class_["id"], other["id"])).status == 201
    assert (await client.get(f"/bookings/{booking['id']}")).body == before.body
    assert await client.list_all("/bookings", status="expired") == [before.json]
    kinds = [event for event in await client.events() if event["type"] == "booking.expired"]
    assert [event["data"] for event in kinds] == [{"object": before.json, "previous": {"status": "held"}}]


@pytest.mark.parametrize("locations", [None, ("limited",)], ids=["all locations", "one location"])
async def test_lists_of_holds_are_the_same_for_a_limited_key(
    client: StudioClient, locations: tuple[str, ...] | None
) -> None:
    """By status and without, page by page."""
    place, people = new_id(), [a_member() for _ in range(5)]
    classes = [a_class(capacity=3, location_id=place) for _ in people]
    await client.import_all(*classes, *people)
    holds = [await held(client, class_, one) for class_, one in zip(classes, people, strict=True)]
    await run_out(client, *holds[:2])
    assert (await confirm(client, holds[2])).status == 200
    await client.cancel(holds[3]["id"])
    reader = client if locations is None else client.with_key(locations=(place,))
    for status, wanted in (
        ("held", holds[4:]),
        ("expired", holds[:2]),
        ("cancelled", holds[3:4]),
        ("confirmed", holds[2:3]),
        (None, holds[2:3]),
    ):
        found = await reader.list_all("/bookings", status=status, limit=1)
        assert {row["id"] for row in found} == {row["id"] for row in wanted}
    hidden = client.with_key(locations=(new_id(),))
    assert await hidden.list_all("/bookings", status="held") == []


async def test_a_run_out_hold_never_blocks_a_booking(client: StudioClient) -> None:
    """Neither the seat, nor the spot, nor the same member, with every loop stopped."""
    class_ = a_class(spot_selection_mode="required")
    spot, people = a_spot(class_["id"]), [a_member() for _ in range(2)]
    await client.import_all(class_, spot, *people)
    for person in (people[0], people[0], people[1]):
        booking = await held(client, class_, people[0], class_spot_id=spot["id"])
        (listed,) = await client.list_all(f"/classes/{class_['id']}/spots")
        assert listed["available"] is False
        await run_out(client, booking)
        (listed,) = await client.list_all(f"/classes/{class_['id']}/spots")
        assert listed["available"] is True
        reply = await client.book(class_["id"], person["id"], class_spot_id=spot["id"])
        assert (reply.status, reply.json["class_spot_id"]) == (201, spot["id"])
        assert await inconsistencies(client) == []
        await client.cancel(reply.json["id"])
        async with client.service.db.connection() as conn:
            await conn.execute("UPDATE bookings SET created_at = created_at - interval '1 day'")


async def test_the_seat_of_a_run_out_hold_goes_to_the_waitlist(client: StudioClient) -> None:
    """In the transaction of whoever locks the class next: a newcomer finds it full."""
    class_, people = a_class(credit_cost=1), await rich(client, 3)
    await client.import_all(class_)
    booking = await held(client, class_, people[0])
    waiting = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    assert waiting["waitlist_position"] == 1
    await run_out(client, booking)
    reply = await client.book(class_["id"], people[2]["id"])
    assert (reply.code, reply.details["booked_count"]) == ("class_full", 1)
    assert "held_count" not in reply.details
    assert (await client.get_ok(f"/bookings/{waiting['id']}"))["status"] == "confirmed"
    assert await credits_of(client, people[1]) == 9
    assert (await told(client))[-3:] == ["booking.expired", "booking.confirmed", "waitlist.updated"]
    assert await inconsistencies(client) == []


@pytest.mark.parametrize("act", ["cancel", "capacity", "check_in", "cancel_class", "import", "preview"])
async def test_whoever_locks_the_class_ends_its_run_out_holds(client: StudioClient, act: str) -> None:
    """Each with the event, whatever else it does; a preview writes nothing but does not count them."""
    class_, people = a_class(capacity=2), [a_member() for _ in range(3)]
    await client.import_all(class_, *people)
    seat = (await client.book(class_["id"], people[0]["id"])).json
    booking = await held(client, class_, people[1])
    await run_out(client, booking)
    path, staff = f"/staff/classes/{class_['id']}", client.staff
    if act == "cancel":
        reply = await client.cancel(seat["id"])
    elif act == "capacity":
        reply = await staff.call("PATCH", path, {"capacity": 1})
    elif act == "check_in":
        reply = await staff.call("POST", f"/staff/bookings/{seat['id']}/check-in")
    elif act == "cancel_class":
        reply = await staff.call("POST", f"{path}/cancel", {})
    elif act == "import":
        line = a_booking(class_["id"], people[1]["id"], status="confirmed")
        await client.import_all(line, send_events=True)
        reply = await client.get(f"/bookings/{line['id']}")
    else:
        body = {"class_id": class_["id"], "member_id": people[2]["id"]}
        reply = await client.call("POST", "/bookings/preview", body)
        assert reply.json["outcome"] == "confirmed"
    assert reply.status == 200, reply.body
    ended = [event["resource"]["id"] for event in await client.events() if event["type"] == "booking.expired"]
    assert ended == ([] if act == "preview" else [booking["id"]])
    assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "expired"
    if act != "import":
        assert await inconsistencies(client) == []


async def test_paid_too_late_is_still_booked(client: StudioClient) -> None:
    """Same id and spot, whether somebody has written the end already or not."""
    (person, other) = await rich(client, 2)
    class_ = a_class(capacity=2, credit_cost=2, spot_selection_mode="optional")
    spots = [a_spot(class_["id"], order=n) for n in range(2)]
    await client.import_all(class_, *spots)
    booking = await held(client, class_, person, class_spot_id=spots[1]["id"])
    await run_out(client, booking)
    reply = await confirm(client, booking)
    assert (reply.status, reply.json["status"], reply.json["id"]) == (200, "confirmed", booking["id"])
    assert reply.json["class_spot_id"] == spots[1]["id"]
    assert await told(client) == ["booking.held", "booking.expired", "booking.created"]
    again = await held(client, class_, other)
    await run_out(client, again)
    await client.staff.call("PATCH", f"/staff/classes/{class_['id']}", {"capacity": 3})
    assert (await confirm(client, again)).json["status"] == "confirmed"
    assert await credits_of(client, other) == 8
    assert await inconsistencies(client) == []


async def test_a_late_confirm_is_refused_in_order(client: StudioClient) -> None:
    """class_not_bookable, already_*, member_not_eligible, hold_expired; nothing changes."""
    product, people = a_product(1), [a_member() for _ in range(2)]
    class_ = a_class(credit_cost=1)
    rival = a_purchase(people[1]["id"], product)
    await client.import_all(product, *people, class_, rival)
    booking = await held(client, class_, people[0])
    await run_out(client, booking)
    path = f"/staff/classes/{class_['id']}"
    assert (await client.book(class_["id"], people[1]["id"])).status == 201
    assert (await confirm(client, booking)).code == "member_not_eligible"
    await client.import_all(a_purchase(people[0]["id"], product))
    refused = await confirm(client, booking)
    ended = (await client.get_ok(f"/bookings/{booking['id']}"))["updated_at"]
    assert refused.code == "hold_expired"
    assert refused.details == {"expired_at": ended, "available_count": 0, "waitlist_count": 0}
    again = await client.book(class_["id"], people[0]["id"], join_waitlist=True)
    refused = await confirm(client, booking)
    assert (refused.code, refused.details) == ("already_waitlisted", {"booking_id": again.json["id"]})
    await client.staff.call("PATCH", path, {"visible": False})
    assert (await confirm(client, booking)).details == {"reason": "hidden"}
    await client.staff.call("PATCH", path, {"start_time": soon(minutes=-1), "end_time": soon(hours=1)})
    assert (await confirm(client, booking)).details == {"reason": "started"}
    await client.staff.call("POST", f"{path}/cancel", {})
    assert (await confirm(client, booking)).details == {"reason": "cancelled"}
    assert await credits_of(client, people[0]) == 1


async def test_who_waits_goes_before_a_late_confirm(client: StudioClient) -> None:
    """Even if the hold's end was not written: the seat is theirs since then."""
    class_, people = a_class(), [a_member() for _ in range(2)]
    await client.import_all(class_, *people)
    booking = await held(client, class_, people[0])
    waits = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    await run_out(client, booking)
    key = new_id()
    first, again = [await confirm(client, booking, key) for _ in range(2)]
    assert (first.code, again.body) == ("hold_expired", first.body)
    assert first.details["waitlist_count"] == 0 and first.details["available_count"] == 0
    await client.cancel((await client.get_ok(f"/bookings/{waits['id']}"))["id"])
    assert (await confirm(client, booking)).json["status"] == "confirmed"
    assert await inconsistencies(client) == []


async def test_a_late_confirm_needs_its_own_spot(client: StudioClient) -> None:
    """Another free seat does not help: the customer has paid for that place."""
    class_, people = a_class(capacity=2, spot_selection_mode="optional"), [a_member() for _ in range(2)]
    spots = [a_spot(class_["id"], order=n) for n in range(2)]
    await client.import_all(class_, *spots, *people)
    booking = await held(client, class_, people[0], class_spot_id=spots[0]["id"])
    await run_out(client, booking)
    taken = await client.book(class_["id"], people[1]["id"], class_spot_id=spots[0]["id"])
    refused = await confirm(client, booking)
    assert (refused.code, refused.details["available_count"]) == ("hold_expired", 1)
    await client.cancel(taken.json["id"])
    assert (await confirm(client, booking)).json["class_spot_id"] == spots[0]["id"]


async def test_only_a_hold_is_confirmed(client: StudioClient) -> None:
    """Bookings in any other status, an expired place on a waitlist too; an unknown one is 404."""
    class_, person = a_class(), a_member()
    lines = [a_booking(class_["id"], a_member()["id"], status=status) for status in ("expired", "no_show")]
    people = [a_member(id=line["member_id"]) for line in lines]
    await client.import_all(class_, person, *people, *lines)
    rows = [await client.get_ok(f"/bookings/{line['id']}") for line in lines]
    rows.append((await client.book(class_["id"], person["id"])).json)
    other = a_class()
    await client.import_all(other)
    gone = await held(client, other, person)
    await client.cancel(gone["id"])
    rows.append(await client.get_ok(f"/bookings/{gone['id']}"))
    for row in rows:
        reply = await confirm(client, row)
        assert (reply.status, reply.code) == (409, "booking_not_held")
        assert reply.details == {"status": row["status"]}
    assert (await confirm(client, {"id": new_id()})).status == 404
    elsewhere = client.with_key(locations=(new_id(),))
    assert (await confirm(elsewhere, rows[0])).status == 404


async def test_giving_up_a_hold_is_free_however_late(client: StudioClient) -> None:
    """The receipt and its preview say so, the seat goes on, and the event tells that it was only held."""
    studio = a_studio(
        client.caller.studio_id, late_fee_amount="15", late_fee_currency="USD", forfeit_credit=True
    )
    (person,) = await rich(client, 1)
    class_ = a_class(credit_cost=2, start_time=soon(hours=1))
    await client.import_all(studio, class_)
    booking = await held(client, class_, person)
    preview = await client.get_ok(f"/bookings/{booking['id']}/cancellation-preview")
    receipt = (await client.cancel(booking["id"], max_late_fee="0", allow_credit_forfeit="false")).json
    assert (receipt["late_cancel"], receipt["late_fee_status"]) == (False, "none")
    assert (receipt["credits_restored"], receipt["credits_forfeited"]) == (0, 0)
    moving = {"id": None, "cancelled_at": None}
    assert preview | moving == receipt | moving
    event = next(event for event in await client.events() if event["type"] == "booking.cancelled")
    assert event["data"]["previous"] == {"status": "held"}
    assert await client.list_all("/bookings") == []
    assert await shown(client, class_) == (0, 0, 1)
    assert await inconsistencies(client) == []


async def test_bookings_write_alone_gives_up_what_it_has_held(client: StudioClient) -> None:
    """404 for an unknown booking, 403 for any other status, for a repeated request too."""
    class_, people = a_class(capacity=9), [a_member() for _ in range(3)]
    await client.import_all(class_, *people)
    writer = with_scopes(client, "bookings:write")
    booking, key = await held(writer, class_, people[0]), new_id()
    first = await writer.cancel(booking["id"], key=key)
    assert (first.status, (await writer.cancel(booking["id"], key=key)).body) == (200, first.body)
    assert (await writer.cancel(new_id())).status == 404
    seat = (await writer.book(class_["id"], people[1]["id"])).json
    ended = await held(writer, class_, people[2])
    await run_out(client, ended)
    for row in (booking, seat, ended):
        refused = await writer.cancel(row["id"])
        assert (refused.status, refused.code) == (403, "insufficient_scope")
        assert refused.details == {"required_scope": "bookings:cancel", "granted_scopes": ["bookings:write"]}
    assert (await client.cancel(seat["id"], key="shared key")).status == 200
    assert (await writer.cancel(seat["id"], key="shared key")).status == 403
    assert (await with_scopes(client, *SCOPES).cancel(seat["id"], key="shared key")).replayed


async def test_a_cancelled_class_cancels_its_holds(client: StudioClient) -> None:
    """And an imported cancellation too."""
    for by_import in (False, True):
        class_, people = a_class(capacity=9), [a_member() for _ in range(2)]
        await client.import_all(class_, *people)
        holds = [await held(client, class_, person) for person in people]
        if by_import:
            await client.import_all(class_ | {"status": "cancelled"}, send_events=True)
        else:
            await client.staff.call("POST", f"/staff/classes/{class_['id']}/cancel", {})
        for booking in holds:
            assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "cancelled"
            (event,) = [
                event
                for event in await client.events()
                if event["resource"]["id"] == booking["id"] and event["type"] == "booking.cancelled"
            ]
            assert event["data"]["previous"] == {"status": "held"}
        assert await shown(client, class_) == (0, 0, 9)
    assert await inconsistencies(client) == []


async def test_a_lowered_capacity_takes_no_hold_away(client: StudioClient) -> None:
    """The hold is confirmed, and nobody else gets in."""
    class_, people = a_class(capacity=6), [a_member() for _ in range(3)]
    await client.import_all(class_, *people)
    holds = [await held(client, class_, person) for person in people[:2]]
    await client.staff.call("PATCH", f"/staff/classes/{class_['id']}", {"capacity": 1})
    assert await shown(client, class_) == (0, 2, 0)
    assert (await client.book(class_["id"], people[2]["id"])).code == "class_full"
    assert [(await confirm(client, booking)).status for booking in holds] == [200, 200]


async def test_nobody_is_checked_in_on_a_hold(client: StudioClient) -> None:
    """409 booking_held; the other staff moves are no transitions."""
    class_, person = a_class(), a_member()
    await client.import_all(class_, person)
    booking = await held(client, class_, person)
    path = f"/staff/bookings/{booking['id']}"
    refused = await client.staff.call("POST", f"{path}/check-in")
    assert (refused.status, refused.code) == (409, "booking_held")
    for move in ("no-show", "undo-check-in"):
        assert (await client.staff.call("POST", f"{path}/{move}")).code == "invalid_state_transition"
    (row,) = await client.staff.list_all(f"/staff/classes/{class_['id']}/roster")
    assert (row["status"], row["held_until"]) == ("held", booking["held_until"])
    reply = await client.staff.call("POST", f"{path}/cancel", {})
    assert reply.json["late_fee_status"] == "none"


async def test_a_preview_of_a_hold(client: StudioClient) -> None:
    """`held`, or the refusal; for a member who holds, the class is not full. It knows its limits."""
    class_, people = a_class(credit_cost=1), [a_member() for _ in range(2)]
    await client.import_all(class_, *people)

    async def preview(person: Any, **more: Any) -> Any:
        body = {"class_id": class_["id"], "member_id": person["id"], **more}
        return (await client.call("POST", "/bookings/preview", body)).json

    wanted = await preview(people[0], hold_seconds=60)
    assert (wanted["outcome"], wanted["code"]) == ("held", None)
    codes = [check["code"] for check in wanted["checks"]]
    plain = [check["code"] for check in (await preview(people[0]))["checks"]]
    assert codes == [*plain[:3], "already_held", *plain[3:], "too_many_holds"]
    await held(client, class_, people[0])
    mine = await preview(people[0])
    failed = [check["code"] for check in mine["checks"] if not check["passed"]]
    assert (mine["outcome"], failed) == ("refused", ["already_held", "member_not_eligible"])
    other = await preview(people[1], hold_seconds=60)
    failed = [check["code"] for check in other["checks"] if not check["passed"]]
    assert (other["code"], failed) == ("class_full", ["class_full", "too_many_holds"])


async def test_an_import_knows_no_holds(client: StudioClient) -> None:
    """It refuses the status and ignores what lines of an export or of the wire have beside it."""
    class_, person = a_class(capacity=9), a_member()
    await client.import_all(class_ | {"held_count": 3}, person)
    line = a_booking(class_["id"], person["id"], status=BookingStatus.HELD)
    report = await client.import_lines(line, line | {"status": "confirmed", "held_until": soon(minutes=1)})
    assert report["rejected"][0]["reason"] == "A hold cannot be imported."
    assert len(report["rejected"]) == 2
    booking = await held(client, class_, person)
    taken = await client.import_lines(line | {"status": "confirmed"})
    assert taken["rejected"][0]["reason"] == "The member already has a booking in this class."
    await run_out(client, booking)
    await client.import_all(line | {"status": "confirmed", "held_until": None})
    assert await shown(client, class_) == (1, 0, 8)


async def test_an_import_may_confirm_or_end_a_hold(client: StudioClient) -> None:
    """Told as the same change made here; a start that it moves shortens the others."""
    class_, people = a_class(capacity=9), [a_member() for _ in range(3)]
    await client.import_all(class_, *people)
    holds = [await held(client, class_, person) for person in people]
    lines = [
        a_booking(class_["id"], person["id"], id=booking["id"], status=status)
        for person, booking, status in zip(people, holds, ("confirmed", "cancelled", ""), strict=True)
    ]
    await client.import_all(*lines[:2], send_events=True)
    begins = soon(minutes=2)
    moved = class_ | {"start_time": begins, "end_time": begins + timedelta(hours=1)}
    await client.import_all(moved, send_events=True)
    rows = [await client.get_ok(f"/bookings/{booking['id']}") for booking in holds]
    assert [row["status"] for row in rows] == ["confirmed", "cancelled", "held"]
    assert datetime.fromisoformat(rows[2]["held_until"]) == begins
    kinds = {event["resource"]["id"]: event["type"] for event in await client.events()}
    assert [kinds[row["id"]] for row in rows] == ["booking.created", "booking.cancelled", "booking.updated"]
    assert [row["id"] for row in await client.list_all("/bookings")] == [holds[0]["id"]]
    assert await shown(client, class_) == (1, 1, 7)
    past = soon(minutes=-1)
    await client.import_all(class_ | {"start_time": past, "end_time": soon(hours=1)}, send_events=True)
    assert (await client.get_ok(f"/bookings/{holds[2]['id']}"))["status"] == "expired"
    assert (await told(client)).count("booking.expired") == 1
    assert await shown(client, class_) == (1, 0, 8)
