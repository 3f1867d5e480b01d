"""Every refusal of a booking or a cancellation, through the gateway, from imported data only."""

import asyncio
from typing import Any

import msgspec
import pytest

from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.http import Client, Reply
from tests.harness.system import System
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product, soon


class House:
    """A studio's partner and staff, through the gateway's two ports."""

    def __init__(self, system: System, partner: Client) -> None:
        self.system = system
        self.partner = partner

    async def import_lines(self, *lines: dict[str, Any]) -> None:
        await self.system.import_lines(msgspec.to_builtins(lines))

    async def staff(self, method: str, path: str, body: Any = None) -> Reply:
        url = f"/studios/{self.system.studio_id}{path}"
        reply = await self.system.operator.send(method, url, msgspec.to_builtins(body))
        assert reply.status == 200, reply.body
        return reply

    async def book(self, class_: Any, member: Any, *, key: str | None = None, **more: Any) -> Reply:
        return await self.partner.book(class_["id"], member["id"], key=key, **more)

    async def cancel(self, booking_id: str, *, key: str | None = None, **query: Any) -> Reply:
        headers = {"Idempotency-Key": key or new_id()}
        return await self.partner.delete(f"/bookings/{booking_id}", headers=headers, **query)


@pytest.fixture
async def house(system: System) -> House:
    return House(system, system.partner(await system.key()))


def error_response(reply: Reply, code: str, **details: Any) -> None:
    error = reply.json()["error"]
    assert (reply.status, error["type"], error["code"]) == (409, "conflict", code), reply.body
    assert error["details"] == details
    assert error["message"] and error["request_id"] == reply.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "completed"}, "completed"),
        ({"start_time": soon(hours=-1)}, "started"),
        ({"visible": False}, "hidden"),
    ],
)
async def test_class_not_bookable(house: House, fields: Any, reason: str) -> None:
    """Each of its four reasons."""
    class_, member = a_class(**fields), a_member()
    await house.import_lines(class_, member)
    error_response(await house.book(class_, member), "class_not_bookable", reason=reason)


async def test_full_classes_and_waitlists(house: House) -> None:
    """`class_full`, `waitlist_full`, `waitlist_not_allowed`, `already_booked`, `already_waitlisted`."""
    open_, closed = a_class(waitlist_capacity=1), a_class(allow_waitlist=False)
    people = [a_member() for _ in range(3)]
    await house.import_lines(open_, closed, *people)
    first = (await house.book(open_, people[0])).json()
    await house.book(closed, people[0])
    counts = {"capacity": 1, "booked_count": 1, "allow_waitlist": True, "waitlist_count": 0}
    error_response(await house.book(open_, people[1]), "class_full", **counts)
    second = (await house.book(open_, people[1], join_waitlist=True)).json()
    assert (second["status"], second["waitlist_position"]) == ("waitlisted", 1)
    full = counts | {"waitlist_count": 1}
    error_response(await house.book(open_, people[2], join_waitlist=True), "waitlist_full", **full)
    none = counts | {"allow_waitlist": False}
    error_response(await house.book(closed, people[1], join_waitlist=True), "waitlist_not_allowed", **none)
    error_response(await house.book(open_, people[0]), "already_booked", booking_id=first["id"])
    error_response(await house.book(open_, people[1]), "already_waitlisted", booking_id=second["id"])


async def test_members_who_may_not_book(house: House) -> None:
    """`member_not_eligible` with each of its reasons."""
    class_ = a_class(capacity=9, credit_cost=1)
    people = {
        "no_membership_or_credits": a_member(),
        "membership_paused": a_member(),
        "membership_past_due": a_member(),
        "member_suspended": a_member(suspended=True),
    }
    cards = [
        a_membership(people["membership_paused"]["id"]),
        a_membership(people["membership_past_due"]["id"], status="past_due"),
        a_membership(people["member_suspended"]["id"]),
    ]
    products = [a_product(id=card["product_id"]) for card in cards]
    await house.import_lines(class_, *products, *people.values(), *cards)
    await house.staff("POST", f"/memberships/{cards[0]['id']}/pause", {"reason": "travel"})
    for reason, person in people.items():
        error_response(await house.book(class_, person), "member_not_eligible", reasons=[reason])


async def test_spots(house: House) -> None:
    """`spot_required` and `spot_taken`; an unknown spot, class or member is 404 with its `param`."""
    class_, people = a_class(capacity=3, spot_selection_mode="required"), [a_member() for _ in range(2)]
    spot = {"object": "class_spot", "id": new_id(), "class_id": class_["id"], "label": "A1", "order": 1}
    await house.import_lines(class_, spot, *people)
    error_response(await house.book(class_, people[0]), "spot_required")
    assert (await house.book(class_, people[0], class_spot_id=spot["id"])).status == 201
    error_response(await house.book(class_, people[1], class_spot_id=spot["id"]), "spot_taken")
    (shown,) = (await house.partner.get(f"/classes/{class_['id']}/spots")).json()["data"]
    assert (shown["id"], shown["available"]) == (spot["id"], False)
    unknown = {"id": new_id()}
    for reply, param in (
        (await house.book(class_, people[1], class_spot_id=new_id()), "class_spot_id"),
        (await house.book(unknown, people[1]), "class_id"),
        (await house.book(class_, unknown), "member_id"),
    ):
        assert (reply.status, reply.json()["error"]["param"]) == (404, param)


async def test_cancelling_what_cannot_be_cancelled(house: House) -> None:
    """`booking_already_cancelled`, `booking_not_cancellable`, `cancellation_terms_changed`."""
    await house.import_lines(
        {"object": "studio", "id": house.system.studio_id, "name": "S", "late_fee_amount": "15.00",
         "late_fee_currency": "USD", "forfeit_credit": True},
    )  # fmt: skip
    class_, people = a_class(capacity=4, start_time=soon(hours=2)), [a_member() for _ in range(3)]
    await house.import_lines(class_, *people)
    held = [(await house.book(class_, person)).json() for person in people]
    worse = await house.cancel(held[0]["id"], max_late_fee="14.99")
    assert (worse.status, worse.code) == (409, "cancellation_terms_changed")
    assert worse.json()["error"]["details"]["late_fee_amount"] == "15.00"
    receipt = (await house.cancel(held[0]["id"], reason="ill")).json()
    assert (receipt["late_fee_status"], receipt["late_fee_amount"]) == ("assessed", "15.00")
    error_response(await house.cancel(held[0]["id"]), "booking_already_cancelled", receipt=receipt)
    await house.staff("POST", f"/bookings/{held[1]['id']}/check-in")
    error_response(await house.cancel(held[1]["id"]), "booking_not_cancellable", status="checked_in")
    times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
    await house.staff("PATCH", f"/classes/{class_['id']}", times)
    error_response(await house.cancel(held[2]["id"]), "booking_not_cancellable", status="confirmed")


async def test_keys_that_were_used(house: House) -> None:
    """`idempotency_key_reused`; a replay has the first body with its own request id in the header."""
    class_, people, key = a_class(capacity=3), [a_member() for _ in range(2)], new_id()
    await house.import_lines(class_, *people)
    first = await house.book(class_, people[0], key=key)
    error_response(await house.book(class_, people[1], key=key), "idempotency_key_reused")
    again = await house.book(class_, people[0], key=key)
    assert (again.body, again.headers["Idempotent-Replayed"]) == (first.body, "true")
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    state = (await house.partner.get(f"/idempotency-keys/{key}")).json()
    assert (state["status"], state["http_status"], state["resource_id"]) == (
        "succeeded",
        201,
        first.json()["id"],
    )
    for wrong in ("short", "x" * 121, None):
        bad = await house.partner.post("/bookings", {}, headers={"Idempotency-Key": wrong} if wrong else {})
        assert bad.status == 422


async def test_two_keys_of_one_client_share_and_two_clients_do_not(system: System, house: House) -> None:
    """A retry works after a key's rotation; another client's answers are never replayed."""
    class_, people, key = a_class(capacity=3), [a_member() for _ in range(2)], new_id()
    await house.import_lines(class_, *people)
    same = House(system, system.partner(await system.key()))
    other = House(system, system.partner(await system.key(client="another")))
    first = await house.book(class_, people[0], key=key)
    assert (await same.book(class_, people[0], key=key)).body == first.body
    assert (await other.partner.get(f"/idempotency-keys/{key}")).status == 404
    theirs = await other.book(class_, people[1], key=key)
    assert theirs.status == 201 and theirs.body != first.body
    assert "Idempotent-Replayed" not in theirs.headers


async def test_a_request_that_still_runs(house: House) -> None:
    """`idempotency_in_progress` after two seconds with `Retry-After`; then the first response."""
    class_, member, key = a_class(), a_member(), new_id()
    await house.import_lines(class_, member)
    async with connected(house.system.running.database_url("bookings")) as conn, conn.transaction():
        await conn.execute("SELECT 1 FROM bookings.classes WHERE id = $1::uuid FOR UPDATE", class_["id"])
        first = asyncio.create_task(house.book(class_, member, key=key))
        while (state := await house.partner.get(f"/idempotency-keys/{key}")).status == 404:
            await asyncio.sleep(0.02)
        assert state.json()["status"] == "in_progress"
        late = await house.book(class_, member, key=key)
        error_response(late, "idempotency_in_progress")
        assert late.headers["Retry-After"] == "1"
    assert (await house.book(class_, member, key=key)).body == (await first).body


async def test_the_waitlist_of_a_started_class_expires_by_itself(house: House) -> None:
    """A background loop expires it, without any request."""
    class_, people = a_class(), [a_member() for _ in range(2)]
    await house.import_lines(class_, *people)
    held = [(await house.book(class_, person, join_waitlist=True)).json() for person in people]
    times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
    await house.staff("PATCH", f"/classes/{class_['id']}", times)
    async with asyncio.timeout(20):
        while (await house.partner.get(f"/bookings/{held[1]['id']}")).json()["status"] != "expired":
            await asyncio.sleep(0.05)
    (entry,) = (await house.partner.get("/waitlist", class_id=class_["id"])).json()["data"]
    assert (entry["status"], entry["position"], entry["converted_to_booking"]) == ("expired", 1, False)
