"""Holding a seat: the answer, the limits, and how a hold that has run out reads."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec

from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.holding import held, run_out, shown
from tests.services.bookings.samples import a_class, a_member, a_spot
from tests.services.bookings.studio_client import StudioClient


async def test_a_hold_takes_the_seat_and_charges_nothing(client: StudioClient) -> None:
    """It has an end, counts as held and not as booked, and is told by a kind of its own."""
    class_, (person,) = await client.open_class(rich=True, credit_cost=3)
    booking = await held(client, class_, person, hold_seconds=30)
    end = datetime.fromisoformat(booking["held_until"])
    assert end - datetime.fromisoformat(booking["created_at"]) == timedelta(seconds=30)
    assert await client.get_ok(f"/bookings/{booking['id']}") == booking
    assert await shown(client, class_) == (0, 1, 0)
    assert await client.credits_of(person) == 10
    first, full = await client.events()
    assert (first["type"], first["data"]) == ("booking.held", {"object": booking})
    assert full["type"] == "class.full"
    assert full["data"]["object"] == await client.get_ok(f"/classes/{class_['id']}")
    assert await inconsistencies(client) == []


async def test_a_hold_has_30_to_900_seconds_and_a_seat(client: StudioClient) -> None:
    """422, also in a preview, beside every other problem; a place on the waitlist is not held.

    Null is not given.
    """
    class_, (person,) = await client.open_class()
    body = {"class_id": class_["id"], "member_id": person["id"]}
    lengths = (29, 901, 0, -1, 60.5, "60", True, 2**70)
    wishes: list[dict[str, Any]] = [{"hold_seconds": seconds} for seconds in lengths]
    for wish in (*wishes, {"hold_seconds": 60, "join_waitlist": True}):
        for path in ("/bookings", "/bookings/preview"):
            reply = await client.call("POST", path, body | wish, key=new_id())
            assert reply.status == 422, wish
            assert [one["loc"] for one in reply.json["detail"]] == [["body", "hold_seconds"]]
            both = await client.call("POST", path, body | wish | {"class_id": "x"}, key=new_id())
            found = [one["loc"] for one in both.json["detail"]]
            assert sorted(found) == [["body", "class_id"], ["body", "hold_seconds"]]
    reply = await client.book(class_["id"], person["id"], join_waitlist=True, hold_seconds=None)
    assert reply.json["status"] == "confirmed"


async def test_a_full_class_tells_when_the_next_hold_ends(client: StudioClient) -> None:
    """Only where there are holds; the waitlist is open as before."""
    class_, people = await client.open_class(people=4, capacity=2)
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
    class_, (person,) = await client.open_class(capacity=9)
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
    people = [a_member() for _ in range(5)]
    small, large = a_class(capacity=2), a_class(capacity=7)
    await client.import_all(small, large, *people)
    await held(client, small, people[0])
    assert (await client.book(small["id"], people[1]["id"], hold_seconds=60)).details == {"limit": 1}
    replies = await asyncio.gather(
        *(client.book(large["id"], person["id"], hold_seconds=60) for person in people[:4])
    )
    refused = [(reply.code, reply.details) for reply in replies if reply.status != 201]
    assert refused == [("too_many_holds", {"limit": 2})] * 2
    await held(client.with_key(client_id=new_id()), large, people[4])
    for share, most in (("0.5", 3), ("0", 1), ("0.29", 1)):
        caller = msgspec.structs.replace(client.caller, hold_share=share)
        partner, class_ = StudioClient(client.service, caller), a_class(capacity=6)
        await client.import_all(class_)
        for person in people[:most]:
            await held(partner, class_, person)
        one_more = await partner.book(class_["id"], people[most]["id"], hold_seconds=60)
        assert one_more.details == {"limit": most}


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


async def test_lists_of_holds_are_the_same_for_a_limited_key(client: StudioClient) -> None:
    """By status and without, page by page."""
    place, people = new_id(), [a_member() for _ in range(5)]
    classes = [a_class(capacity=3, location_id=place) for _ in people]
    await client.import_all(*classes, *people)
    holds = [await held(client, class_, one) for class_, one in zip(classes, people, strict=True)]
    await run_out(client, *holds[:2])
    assert (await client.confirm(holds[2]["id"])).status == 200
    await client.cancel(holds[3]["id"])
    for status, wanted in (
        ("held", holds[4:]),
        ("expired", holds[:2]),
        ("cancelled", holds[3:4]),
        ("confirmed", holds[2:3]),
        (None, holds[2:3]),
    ):
        for reader in (client, client.with_key(locations=(place,))):
            found = await reader.list_all("/bookings", status=status, limit=1)
            assert {row["id"] for row in found} == {row["id"] for row in wanted}
    hidden = client.with_key(locations=(new_id(),))
    assert await hidden.list_all("/bookings", status="held") == []


async def test_a_run_out_hold_never_blocks_a_booking(client: StudioClient) -> None:
    """Neither the seat, nor the spot, nor the same member, with every loop stopped."""
    class_ = a_class(spot_selection_mode="required")
    spot, people = a_spot(class_["id"]), [a_member() for _ in range(2)]
    await client.import_all(class_, spot, *people)
    for person in people:
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


async def test_a_preview_of_a_hold(client: StudioClient) -> None:
    """`held`, or the refusal; for a member who holds, the class is not full. It knows its limits."""
    class_, people = await client.open_class(people=2, credit_cost=1)

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
