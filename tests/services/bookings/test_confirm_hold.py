"""Confirming a hold in time or too late, and giving it up."""

import pytest

from shared.routing import SCOPES
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.holding import held, run_out, shown, told, with_scopes
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, a_spot, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking


async def test_a_confirmed_hold_is_a_booking_like_any_other(client: StudioClient) -> None:
    """Same id, credits charged, told as created; a repeated confirm gives the same bytes."""
    class_, (person,) = await client.open_class(rich=True, credit_cost=3)
    booking, key = await held(client, class_, person), new_id()
    assert await client.list_all("/bookings") == []
    first, again = [await client.confirm(booking["id"], key=key) for _ in range(2)]
    assert (first.status, again.body, again.replayed) == (200, first.body, True)
    changed = {"status": "confirmed", "held_until": None, "updated_at": first.json["updated_at"]}
    assert first.json == booking | changed
    assert await client.list_all("/bookings") == [first.json]
    assert await shown(client, class_) == (1, 0, 0)
    assert await client.credits_of(person) == 7
    assert await told(client) == ["booking.held", "class.full", "booking.created"]
    assert (await client.confirm(booking["id"])).code == "booking_not_held"
    assert (await client.cancel(booking["id"])).json["credits_restored"] == 3
    assert [row["status"] for row in await client.list_all("/bookings")] == ["cancelled"]
    assert await inconsistencies(client) == []


async def test_a_late_confirm_is_refused_in_order(client: StudioClient) -> None:
    """class_not_bookable, already_*, member_not_eligible, hold_expired; nothing changes."""
    product, people = a_product(1), [a_member() for _ in range(2)]
    class_ = a_class(credit_cost=1)
    rival = a_purchase(people[1]["id"], product)
    await client.import_all(product, *people, class_, rival)
    booking = await held(client, class_, people[0])
    await run_out(client, booking)
    assert (await client.book(class_["id"], people[1]["id"])).status == 201
    refused = await client.confirm(booking["id"])
    assert (refused.code, refused.details) == (
        "member_not_eligible",
        {"reasons": ["no_membership_or_credits"]},
    )
    await client.import_all(a_purchase(people[0]["id"], product))
    refused = await client.confirm(booking["id"])
    ended = (await client.get_ok(f"/bookings/{booking['id']}"))["updated_at"]
    assert refused.code == "hold_expired"
    assert refused.details == {"expired_at": ended, "available_count": 0, "waitlist_count": 0}
    again = await client.book(class_["id"], people[0]["id"], join_waitlist=True)
    refused = await client.confirm(booking["id"])
    assert (refused.code, refused.details) == ("already_waitlisted", {"booking_id": again.json["id"]})
    await client.change_class(class_, visible=False)
    assert (await client.confirm(booking["id"])).details == {"reason": "hidden"}
    await client.begin_class(class_)
    assert (await client.confirm(booking["id"])).details == {"reason": "started"}
    await client.cancel_class(class_)
    assert (await client.confirm(booking["id"])).details == {"reason": "cancelled"}
    assert await client.credits_of(people[0]) == 1


async def test_who_waits_goes_before_a_late_confirm(client: StudioClient) -> None:
    """Even if the hold's end was not written: the seat is theirs since then."""
    class_, people = await client.open_class(people=2)
    booking = await held(client, class_, people[0])
    waits = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    await run_out(client, booking)
    key = new_id()
    first, again = [await client.confirm(booking["id"], key=key) for _ in range(2)]
    assert (first.code, again.body) == ("hold_expired", first.body)
    assert first.details["waitlist_count"] == 0 and first.details["available_count"] == 0
    await client.cancel((await client.get_ok(f"/bookings/{waits['id']}"))["id"])
    assert (await client.confirm(booking["id"])).json["status"] == "confirmed"
    assert await inconsistencies(client) == []


@pytest.mark.parametrize("mode", ["optional", "none"])
async def test_a_late_confirm_needs_its_own_spot(client: StudioClient, mode: str) -> None:
    """Another free seat does not help: the customer has paid for that place, chosen or not."""
    class_, people = a_class(capacity=2, spot_selection_mode="optional"), [a_member() for _ in range(2)]
    spots = [a_spot(class_["id"], order=n) for n in range(2)]
    await client.import_all(class_, *spots, *people)
    booking = await held(client, class_, people[0], class_spot_id=spots[0]["id"])
    await run_out(client, booking)
    taken = await client.book(class_["id"], people[1]["id"], class_spot_id=spots[0]["id"])
    await client.import_all(class_ | {"spot_selection_mode": mode})
    refused = await client.confirm(booking["id"])
    assert (refused.code, refused.details["available_count"]) == ("hold_expired", 1)
    await client.cancel(taken.json["id"])
    assert (await client.confirm(booking["id"])).json["class_spot_id"] == spots[0]["id"]


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
        reply = await client.confirm(row["id"])
        assert (reply.status, reply.code) == (409, "booking_not_held")
        assert reply.details == {"status": row["status"]}
    assert (await client.confirm(new_id())).status == 404
    elsewhere = client.with_key(locations=(new_id(),))
    assert (await elsewhere.confirm(rows[0]["id"])).status == 404


async def test_giving_up_a_hold_is_free_however_late(client: StudioClient) -> None:
    """The receipt and its preview say so, the seat goes on, and the event tells that it was only held."""
    await client.import_all(client.with_late_fee)
    class_, (person,) = await client.open_class(rich=True, credit_cost=2, start_time=soon(hours=1))
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
    class_, people = await client.open_class(people=3, capacity=9)
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
