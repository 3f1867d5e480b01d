"""Booking a class, refusals included."""

from typing import Any

import pytest

from tests.services.bookings.import_samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    soon,
)
from tests.services.bookings.studio_client import StudioClient


async def test_a_free_seat_is_confirmed_and_shown_everywhere(client: StudioClient) -> None:
    """The response, GET, the list, the class's count and the event agree."""
    class_, member = a_class(capacity=2), a_member()
    await client.import_all(class_, member)
    reply = await client.book(class_["id"], member["id"])
    assert reply.status == 201
    booking = reply.json
    assert booking["status"] == "confirmed" and booking["booking_source"] == "partner_api"
    assert booking == await client.get_ok(f"/bookings/{booking['id']}")
    assert [booking] == (await client.get_ok("/bookings", class_id=class_["id"]))["data"]
    shown = await client.get_ok(f"/classes/{class_['id']}")
    assert (shown["booked_count"], shown["available_count"]) == (1, 1)
    (event,) = await client.events()
    assert event["type"] == "booking.created" and event["data"]["object"] == booking
    assert event["resource"] == {"object": "booking", "id": booking["id"], "version": 1}


async def test_a_full_class_adds_to_the_waitlist(client: StudioClient) -> None:
    """`join_waitlist` adds an entry with the booking's position; both have an event."""
    class_, members = a_class(capacity=1), [a_member() for _ in range(3)]
    await client.import_all(class_, *members)
    await client.book(class_["id"], members[0]["id"])
    for position, member in enumerate(members[1:], 1):
        reply = await client.book(class_["id"], member["id"], join_waitlist=True)
        assert reply.status == 201
        assert (reply.json["status"], reply.json["waitlist_position"]) == ("waitlisted", position)
    entries = (await client.get_ok("/waitlist", class_id=class_["id"]))["data"]
    assert [(entry["position"], entry["status"]) for entry in entries] == [(1, "waiting"), (2, "waiting")]
    kinds = [event["type"] for event in await client.events()]
    assert kinds == ["booking.created", "class.full"] + ["booking.created", "waitlist.updated"] * 2


async def error_response(
    client: StudioClient, class_: dict[str, Any], member: dict[str, Any], **more: Any
) -> tuple[str, Any]:
    reply = await client.book(class_["id"], member["id"], **more)
    assert reply.status == 409, reply.body
    preview = await client.call(
        "POST", "/bookings/preview", {"class_id": class_["id"], "member_id": member["id"], **more}
    )
    assert preview.json["outcome"] == "refused" and preview.json["code"] == reply.code
    return str(reply.code), reply.details


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "completed"}, "completed"),
        ({"start_time": soon(minutes=-5)}, "started"),
        ({"visible": False}, "hidden"),
    ],
)
async def test_a_class_that_cannot_be_booked_says_why(client: StudioClient, fields: Any, reason: str) -> None:
    """`class_not_bookable` comes before every other refusal."""
    class_, member = a_class(**fields), a_member(suspended=True)
    await client.import_all(class_, member)
    assert await error_response(client, class_, member) == ("class_not_bookable", {"reason": reason})


async def test_a_member_books_a_class_once(client: StudioClient) -> None:
    """The error names the live or waitlisted booking."""
    class_, seated, waiting = a_class(), a_member(), a_member()
    await client.import_all(class_, seated, waiting)
    first = (await client.book(class_["id"], seated["id"])).json
    second = (await client.book(class_["id"], waiting["id"], join_waitlist=True)).json
    assert await error_response(client, class_, seated) == ("already_booked", {"booking_id": first["id"]})
    assert await error_response(client, class_, waiting) == (
        "already_waitlisted",
        {"booking_id": second["id"]},
    )


@pytest.mark.parametrize(
    ("memberships", "member", "reasons"),
    [
        ([], {}, ["no_membership_or_credits"]),
        ([{"status": "paused"}], {}, ["membership_paused"]),
        ([{"status": "past_due"}], {}, ["membership_past_due"]),
        ([{"ends_at": soon(hours=1)}], {}, ["no_membership_or_credits"]),
        ([{"starts_at": soon(days=9)}], {}, ["no_membership_or_credits"]),
        ([{}], {"suspended": True}, ["member_suspended"]),
        ([], {"suspended": True}, ["member_suspended", "no_membership_or_credits"]),
    ],
)
async def test_an_ineligible_member_gets_the_reasons(
    client: StudioClient, memberships: list[Any], member: Any, reasons: list[str]
) -> None:
    """A class that costs credits needs a membership active at its start, or the credits."""
    person, class_ = a_member(**member), a_class(credit_cost=1)
    await client.import_all(class_, person, *(a_membership(person["id"], **fields) for fields in memberships))
    assert await error_response(client, class_, person) == ("member_not_eligible", {"reasons": reasons})


async def test_credits_pay_once_and_only_what_no_membership_covers(client: StudioClient) -> None:
    """10 credits pay three classes at 3; the fourth is refused. An imported purchase grants once."""
    product, payer = a_product(10), a_member()
    bought = a_purchase(payer["id"], product)
    classes = [a_class(credit_cost=3) for _ in range(4)]
    await client.import_all(product, payer, bought, *classes)
    await client.import_all(bought)
    statuses = [(await client.book(class_["id"], payer["id"])).status for class_ in classes]
    assert statuses == [201, 201, 201, 409]
    holder = a_member()
    await client.import_all(holder, a_membership(holder["id"]), a_class())
    last = a_class(credit_cost=3)
    await client.import_all(last)
    assert (await client.book(last["id"], holder["id"])).status == 201


async def test_a_full_class_says_what_is_full(client: StudioClient) -> None:
    """`class_full`, `waitlist_not_allowed` and `waitlist_full` carry the counts."""
    open_, closed = a_class(waitlist_capacity=1), a_class(allow_waitlist=False)
    people = [a_member() for _ in range(4)]
    await client.import_all(open_, closed, *people)
    await client.book(open_["id"], people[0]["id"])
    await client.book(closed["id"], people[0]["id"])
    counts = {"capacity": 1, "booked_count": 1, "allow_waitlist": True, "waitlist_count": 0}
    assert await error_response(client, open_, people[1]) == ("class_full", counts)
    await client.book(open_["id"], people[1]["id"], join_waitlist=True)
    full = counts | {"waitlist_count": 1}
    assert await error_response(client, open_, people[2], join_waitlist=True) == ("waitlist_full", full)
    assert await error_response(client, closed, people[2], join_waitlist=True) == (
        "waitlist_not_allowed",
        counts | {"allow_waitlist": False},
    )


async def test_spots_are_required_taken_or_assigned(client: StudioClient) -> None:
    """`required` needs one, `optional` takes the first free one; a taken spot is 409, an unknown one 404."""
    required = a_class(capacity=3, spot_selection_mode="required")
    optional = a_class(capacity=3, spot_selection_mode="optional")
    people = [a_member() for _ in range(4)]

    def spot(class_: Any, order: int) -> dict[str, Any]:
        made = {"object": "class_spot", "class_id": class_["id"], "label": f"B{order}", "order": order}
        return made | {"id": f"{order:08d}-0000-4000-8000-{class_['id'][-12:]}"}

    spots = [spot(required, n) for n in (2, 1)] + [spot(optional, n) for n in (2, 1)]
    await client.import_all(*spots, required, optional, *people)
    assert await error_response(client, required, people[0]) == ("spot_required", {})
    taken = (await client.book(required["id"], people[0]["id"], class_spot_id=spots[0]["id"])).json
    assert taken["class_spot_id"] == spots[0]["id"]
    assert await error_response(client, required, people[1], class_spot_id=spots[0]["id"]) == (
        "spot_taken",
        {},
    )
    unknown = await client.book(required["id"], people[1]["id"], class_spot_id=spots[2]["id"])
    assert (unknown.status, unknown.json["error"]["param"]) == (404, "class_spot_id")
    listed = (await client.get_ok(f"/classes/{required['id']}/spots"))["data"]
    assert [(s["label"], s["available"]) for s in listed] == [("B1", True), ("B2", False)]
    assigned = [
        (await client.book(optional["id"], person["id"])).json["class_spot_id"] for person in people[:3]
    ]
    assert assigned == [spots[3]["id"], spots[2]["id"], None]


async def test_not_found_names_the_parameter_and_the_class_comes_first(client: StudioClient) -> None:
    """404 with `param`, the class before the member."""
    class_, member, other = a_class(), a_member(), "11111111-1111-4111-8111-111111111111"
    await client.import_all(class_, member)
    for class_id, member_id, param in (
        (other, other, "class_id"),
        (other, member["id"], "class_id"),
        (class_["id"], other, "member_id"),
    ):
        reply = await client.book(class_id, member_id)
        assert (reply.status, reply.json["error"]["param"]) == (404, param)
