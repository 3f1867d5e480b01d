"""Work at the desk: walk-ins, promotion out of turn, late fees, and what staff look up for it."""

import asyncio
import time
from typing import Any

import msgspec
import pytest

from shared.wire import new_id
from tests.services.bookings.consistency import CHECKS, failed_checks
from tests.services.bookings.holding import held, run_out
from tests.services.bookings.samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_spot,
    a_studio,
    soon,
)
from tests.services.bookings.studio_client import Reply, StudioClient


def with_role(client: StudioClient, role: Any) -> StudioClient:
    staff = client.staff
    return StudioClient(staff.service, msgspec.structs.replace(staff.caller, role=role))


async def walk_in(client: StudioClient, class_: Any, role: Any = "staff", **body: Any) -> Reply:
    return await with_role(client, role).call("POST", "/staff/bookings", {"class_id": class_["id"], **body})


async def told(client: StudioClient, before: int) -> list[tuple[str, int]]:
    events = (await client.events())[before:]
    return [(event["type"], event["resource"]["version"]) for event in events]


async def test_a_walk_in_is_booked_and_checked_in_at_once(client: StudioClient) -> None:
    """Credits are charged, and the events are those of a booking and of a check-in, in their order."""
    class_, (person,) = await client.open_class(rich=True, credit_cost=2)
    before = len(await client.events())
    made = await walk_in(client, class_, member_id=person["id"], check_in=True)
    assert (made.status, made.json["status"], made.json["booking_source"]) == (201, "checked_in", "studio")
    assert made.json == await client.get_ok(f"/bookings/{made.json['id']}")
    assert await client.credits_of(person) == 8
    assert await told(client, before) == [
        ("booking.created", 1),
        ("booking.checked_in", 2),
        ("class.full", 2),
    ]
    first, second, _ = (await client.events())[before:]
    assert [event["data"]["object"]["status"] for event in (first, second)] == ["confirmed", "checked_in"]
    assert await failed_checks(client, *CHECKS) == []


async def test_somebody_new_becomes_a_member_in_the_same_step(client: StudioClient) -> None:
    """If the booking is refused, there is no new member either. A known email names who has it."""
    free, paid = a_class(capacity=9), a_class(credit_cost=1)
    await client.import_all(free, paid)
    new = {"first_name": "Nia", "last_name": "Okoro", "email": "Nia@Example.com"}
    before = len(await client.events())
    refused = await walk_in(client, paid, member=new)
    assert (refused.status, refused.code) == (409, "member_not_eligible")
    assert (await client.events())[before:] == []
    made = await walk_in(client, free, member=new)
    assert made.status == 201
    assert await told(client, before) == [("member.created", 1), ("booking.created", 1)]
    (member,) = (await client.get_ok("/members", email="nia@example.com"))["data"]
    assert made.json["member_id"] == member["id"]
    again = await walk_in(client, free, member=new)
    assert (again.code, again.details) == ("member_exists", {"member_id": member["id"]})
    for body in ({}, {"member": new, "member_id": member["id"]}, {"member": new | {"email": "nobody"}}):
        assert (await walk_in(client, free, **body)).status == 422


async def test_a_walk_in_is_refused_as_a_partners_booking_is(client: StudioClient) -> None:
    """With the same codes and details, and nothing is written."""
    class_, people = a_class(capacity=1), [a_member() for _ in range(3)]
    begun, spots = a_class(start_time=soon(seconds=-1)), a_class(capacity=2, spot_selection_mode="required")
    await client.import_all(class_, begun, spots, a_spot(spots["id"]), *people)
    await client.seated(class_, people[:1])
    for lesson, person in ((class_, people[0]), (class_, people[1]), (begun, people[1]), (spots, people[1])):
        partner = await client.book(lesson["id"], person["id"])
        desk = await walk_in(client, lesson, member_id=person["id"])
        assert (desk.status, desk.code, desk.details) == (409, partner.code, partner.details)
    waits = await walk_in(client, class_, member_id=people[1]["id"], join_waitlist=True, check_in=True)
    assert (waits.json["status"], waits.json["waitlist_position"]) == ("waitlisted", 1)
    for body in ({"member_id": new_id()}, {"member_id": people[2]["id"], "class_id": new_id()}):
        assert (await walk_in(client, class_, **body)).status == 404
    assert await failed_checks(client, *CHECKS) == []


async def test_a_seat_whose_hold_has_run_out_is_given_to_those_who_wait_first(client: StudioClient) -> None:
    """No loop has noticed that the hold has ended."""
    class_, (first, second, third) = await client.open_class(people=3, rich=True, credit_cost=1)
    hold = await held(client, class_, first)
    assert (await client.book(class_["id"], second["id"], join_waitlist=True)).status == 201
    await run_out(client, hold)
    assert (await walk_in(client, class_, member_id=third["id"])).code == "class_full"
    assert await failed_checks(client, *CHECKS) == []


async def test_a_manager_adds_a_seat_to_a_full_class(client: StudioClient) -> None:
    """For this person, not for whoever waits. Staff may not, and a class with a free seat stays as it is."""
    class_, people = await client.open_class(people=4, capacity=1)
    await client.seated(class_, people[:2])
    body = {"member_id": people[2]["id"], "override_capacity": True}
    refused = await walk_in(client, class_, **body)
    assert (refused.status, refused.code) == (403, "insufficient_role")
    before = len(await client.events())
    made = await walk_in(client, class_, "manager", **body, check_in=True)
    assert (made.status, made.json["status"]) == (201, "checked_in")
    kinds = [kind for kind, _ in await told(client, before)]
    assert kinds == ["booking.created", "booking.checked_in", "class.updated"]
    updated = (await client.events())[-1]
    assert (updated["data"]["object"]["capacity"], updated["data"]["previous"]) == (2, {"capacity": 1})
    shown = await client.get_ok(f"/classes/{class_['id']}")
    assert (shown["capacity"], shown["booked_count"], shown["available_count"]) == (2, 2, 0)
    await client.change_class(class_, capacity=4)
    await walk_in(client, class_, "manager", member_id=people[3]["id"], override_capacity=True)
    assert (await client.get_ok(f"/classes/{class_['id']}"))["capacity"] == 4
    assert await failed_checks(client, *CHECKS) == []


async def waiting(client: StudioClient, people: int, **fields: Any) -> tuple[Any, list[Any], list[Any]]:
    """A class with one seat, taken, and the others in the queue: class, members, entries."""
    class_, members = await client.open_class(people=people, rich=True, capacity=1, **fields)
    await client.seated(class_, members)
    return class_, members, await client.list_all("/waitlist", class_id=class_["id"])


async def test_the_desk_promotes_out_of_turn(client: StudioClient) -> None:
    """Full: `class_full`, unless a manager adds a seat. Told like any promotion; those behind move up."""
    class_, members, (first, second, third) = await waiting(client, 4, credit_cost=3)
    path = f"/staff/waitlist/{second['id']}/promote"
    full = await with_role(client, "staff").call("POST", path, {})
    assert (full.status, full.code, full.details["booked_count"]) == (409, "class_full", 1)
    assert (await with_role(client, "staff").call("POST", path, {"override_capacity": True})).status == 403
    before = len(await client.events())
    done = await with_role(client, "manager").call("POST", path, {"override_capacity": True})
    assert (done.status, done.json["status"], done.json["member_id"]) == (200, "confirmed", members[2]["id"])
    kinds = [kind for kind, _ in await told(client, before)]
    assert kinds == ["booking.confirmed", "waitlist.updated", "waitlist.updated", "class.updated"]
    assert await client.credits_of(members[2]) == 7
    left = await client.list_all("/waitlist", class_id=class_["id"], status="waiting")
    assert [(row["id"], row["position"]) for row in left] == [(first["id"], 1), (third["id"], 2)]
    again = await with_role(client, "staff").call("POST", path, {})
    assert (again.code, again.details["from"]) == ("invalid_state_transition", "converted")
    assert (await client.staff.call("POST", f"/staff/waitlist/{new_id()}/promote", {})).status == 404
    assert await failed_checks(client, *CHECKS) == []


async def test_nobody_is_promoted_who_could_not_book(client: StudioClient) -> None:
    """Neither without credits nor into a class that has begun."""
    class_, members, (entry,) = await waiting(client, 2, credit_cost=3)
    await client.import_all(members[1] | {"suspended": True})
    promote = f"/staff/waitlist/{entry['id']}/promote"
    refused = await client.staff.call("POST", promote, {"override_capacity": True})
    assert (refused.code, refused.details["reasons"]) == ("member_not_eligible", ["member_suspended"])
    times = {"start_time": soon(seconds=-5), "end_time": soon(hours=1)}
    async with client.service.db.connection() as conn:
        await conn.execute(
            "UPDATE classes SET start_time = $1, end_time = $2 WHERE id = $3", *times.values(), class_["id"]
        )
    refused = await client.staff.call("POST", promote, {"override_capacity": True})
    assert (refused.code, refused.details) == ("class_not_bookable", {"reason": "started"})


async def test_the_desk_skips_somebody_who_waits(client: StudioClient) -> None:
    """The booking is cancelled without cost, and those behind move up."""
    class_, _, (first, second) = await waiting(client, 3)
    before = len(await client.events())
    skipped = await client.staff.call("POST", f"/staff/waitlist/{first['id']}/skip")
    assert (skipped.status, skipped.json["status"]) == (200, "skipped")
    kinds = [kind for kind, _ in await told(client, before)]
    assert kinds == ["booking.cancelled", "waitlist.updated", "waitlist.updated"]
    (left,) = await client.list_all("/waitlist", class_id=class_["id"], status="waiting")
    assert (left["id"], left["position"]) == (second["id"], 1)
    again = await client.staff.call("POST", f"/staff/waitlist/{first['id']}/skip")
    assert again.code == "invalid_state_transition"
    assert await failed_checks(client, *CHECKS) == []


async def test_walk_ins_and_partners_never_overbook(client: StudioClient) -> None:
    """Twenty at once for five seats: the desk takes the same lock."""
    class_, people = await client.open_class(people=20, capacity=5, allow_waitlist=False)
    replies = await asyncio.gather(
        *(
            walk_in(client, class_, member_id=person["id"])
            if number % 2
            else client.book(class_["id"], person["id"])
            for number, person in enumerate(people)
        )
    )
    assert sorted(reply.status for reply in replies) == [201] * 5 + [409] * 15
    assert await failed_checks(client, *CHECKS) == []


async def test_late_cancels_are_listed_and_their_fee_is_waived(client: StudioClient) -> None:
    """With names and the receipt. Only managers waive, once; what has no fee cannot be waived."""
    fees = {"late_fee_amount": "15", "late_fee_currency": "USD"}
    class_, other = (a_class(capacity=9, start_time=start) for start in (soon(hours=1), soon(days=9)))
    people = [a_member(first_name=name, last_name="B") for name in ("Ann", "Bea")]
    await client.import_all(a_studio(client.caller.studio_id, **fees), class_, other, *people)
    (late, kept), (free, _) = await client.seated(class_, people), await client.seated(other, people)
    moment = soon().isoformat()
    for booking in (late, free):
        assert (await client.cancel(booking["id"])).status == 200
    rows = await client.staff.list_all("/staff/bookings", cancelled_since=moment)
    assert [(row["id"], row["late_cancel"], row["member_name"]) for row in rows] == [
        (late["id"], True, "Ann B"),
        (free["id"], False, "Ann B"),
    ]
    receipt = rows[0]["receipt"]
    assert (receipt["late_fee_amount"], receipt["late_fee_status"]) == ("15.00", "assessed")
    assert rows[0]["class_title"] == "Flow"
    in_class = await client.staff.list_all("/staff/bookings", cancelled_since=moment, class_id=class_["id"])
    assert [row["id"] for row in in_class] == [late["id"]]
    starting = {"starts_before": soon(days=1).isoformat(), "cancelled_since": moment}
    assert [row["id"] for row in await client.staff.list_all("/staff/bookings", **starting)] == [late["id"]]
    assert await client.staff.list_all("/staff/bookings", cancelled_since=soon(hours=1).isoformat()) == []
    path = f"/staff/bookings/{late['id']}/waive-fee"
    assert (await with_role(client, "staff").call("POST", path)).status == 403
    waived = await with_role(client, "manager").call("POST", path)
    assert (waived.json["late_fee_status"], waived.json["late_fee_amount"]) == ("waived", "15.00")
    assert (await client.cancel(late["id"])).details["receipt"] == waived.json
    for booking in (late, free, kept):
        again = await client.staff.call("POST", f"/staff/bookings/{booking['id']}/waive-fee")
        assert (again.status, again.code) == (409, "no_fee_to_waive")
    assert (await client.staff.call("POST", f"/staff/bookings/{new_id()}/waive-fee")).status == 404


async def test_a_list_of_cancellations_says_when_it_reaches_too_far_back(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """422, as for a range of too many classes."""
    class_, people = await client.open_class(people=2, capacity=9)
    for booking in await client.seated(class_, people):
        await client.cancel(booking["id"])
    from services.bookings.store import desk

    monkeypatch.setattr(desk, "TOO_MANY", desk.TOO_MANY.replace("1000", "1").replace("1001", "2"))
    reply = await client.staff.get("/staff/bookings", cancelled_since=soon(days=-1).isoformat())
    assert (reply.status, reply.json["detail"][0]["type"]) == (422, "range_too_wide")


async def test_a_roster_tells_the_desk_who_comes(client: StudioClient) -> None:
    """Check-in time, credits, how the membership stands at the class's start, first visits, who waits.

    A cancelled booking shows only when its status is asked for.
    """
    earlier, class_ = a_class(capacity=9), a_class(capacity=4, start_time=soon(days=5))
    product = a_product(10)
    people = {name: a_member(first_name=name) for name in ("Active", "Due", "Ends", "Credits", "None")}
    await client.import_all(
        product,
        earlier,
        class_,
        *people.values(),
        a_membership(people["Active"]["id"]),
        a_membership(people["Due"]["id"], status="past_due"),
        a_membership(people["Ends"]["id"], ends_at=soon(days=2), auto_renew=False),
        a_purchase(people["Credits"]["id"], product),
    )
    (before, *_) = await client.seated(earlier, list(people.values()))
    bookings = await client.seated(class_, list(people.values()))
    for booking in (before, bookings[3]):
        await client.staff.call("POST", f"/staff/bookings/{booking['id']}/check-in")
    path = f"/staff/classes/{class_['id']}/roster"
    rows = await client.staff.list_all(path, limit=2)
    words = {row["member_name"].split()[0]: row["membership_status"] for row in rows}
    assert words == {"Active": "active", "Due": "past_due", "Ends": None, "Credits": None, "None": None}
    assert [row["member_email"] for row in rows] == [person["email"] for person in people.values()]
    assert [row["first_visit"] for row in rows] == [False, True, True, True, True]
    assert [row["credits"] for row in rows] == [0, 0, 0, 10, 0]
    assert [row["checked_in_at"] is not None for row in rows] == [False, False, False, True, False]
    assert [row["waitlist_position"] for row in rows] == [None, None, None, None, 1]
    await client.cancel(bookings[0]["id"])
    assert len(await client.staff.list_all(path)) == 4
    (cancelled,) = await client.staff.list_all(path, status="cancelled")
    assert cancelled["member_name"] == "Active Byron"
    assert (await client.staff.get(f"/staff/classes/{new_id()}/roster")).status == 404


async def test_members_are_found_by_what_the_desk_types(client: StudioClient) -> None:
    """The beginning of a name, a last name, an email or a phone, however it is written.

    A search has one page and no other filter.
    """
    rows = [
        a_member(first_name="Ada", last_name="King", email="Ada.King@example.com", phone="+1 212 555 0147"),
        a_member(first_name="Adam", last_name="Low", phone=None),
        a_member(first_name="Lowri", last_name="Ames", phone="0176 55512345"),
    ]
    studio = a_studio(client.caller.studio_id) | {"timezone": "America/New_York"}
    await client.import_all(studio, *rows[:2])
    await client.import_all(studio | {"timezone": "Europe/Berlin"}, rows[2])
    await client.import_all(studio)
    for typed, found in {
        "ada": ["Ada King", "Adam Low"],
        "  ADA   k": ["Ada King"],
        "low": ["Adam Low", "Lowri Ames"],
        "ada.king@": ["Ada King"],
        "+1 212": ["Ada King"],
        "212-555": ["Ada King"],
        "0176": ["Lowri Ames"],
        "%": [],
        "_da": [],
        "zz": [],
    }.items():
        page = await client.staff.get_ok("/staff/members", q=typed)
        assert ([row["name"] for row in page["data"]], page["has_more"]) == (found, False), typed
    for query in ({"q": "a", "cursor": new_id()}, {"q": "a", "email": "a@example.com"}, {"q": ""}):
        assert (await client.staff.get("/staff/members", **query)).status == 422


FILL = """
INSERT INTO members (studio_id, id, name, first_name, last_name, email, phone, created_at)
SELECT $1, gen_random_uuid(), first || ' ' || last, first, last, first || '.' || last || n || '@example.com',
    '+1 212 ' || n, clock_timestamp()
FROM (SELECT n, 'Fi' || md5(n::text) AS first, 'La' || md5((n + 1)::text) AS last
      FROM generate_series(1, $2::int) n) made
"""


async def search_is_quick(client: StudioClient, members: int, seconds: float) -> None:
    """Whatever is typed: one letter, three, or a phone's first digits."""
    async with client.service.db.connection() as conn:
        await conn.execute(FILL, client.caller.studio_id, members, timeout=120)
        await conn.execute("ANALYZE members")
    for typed in ("f", "fi1", "la1", "fi1.", "1212", "fi12ab34", "nobody"):
        times = []
        for _ in range(5):
            began = time.perf_counter()
            await client.staff.get_ok("/staff/members", q=typed)
            times.append(time.perf_counter() - began)
        assert min(times) < seconds, (typed, times)


async def test_a_search_takes_no_time_among_many(client: StudioClient) -> None:
    """The soak has a hundred thousand of them, and as many times longer."""
    await search_is_quick(client, 20_000, 0.04)


async def test_names_for_the_audit_log(client: StudioClient) -> None:
    """By kind; an erased member has none, and another studio's are not told."""
    class_, people = a_class(capacity=1, title="Yin"), [a_member(first_name=name) for name in ("Ann", "Bea")]
    card = a_membership(people[0]["id"])
    await client.import_all(class_, *people, card)
    booking, waits = await client.seated(class_, people)
    (entry,) = await client.list_all("/waitlist")
    ids = {
        "bookings": [booking["id"], waits["id"]],
        "classes": [class_["id"]],
        "members": [people[0]["id"]],
        "memberships": [card["id"]],
        "waitlist": [entry["id"]],
        "unknown": [new_id()],
    }
    names = (await client.staff.call("POST", "/internal/names", {"ids": ids})).json
    assert names == {
        booking["id"]: "Ann Byron · Yin",
        waits["id"]: "Bea Byron · Yin",
        class_["id"]: "Yin",
        people[0]["id"]: "Ann Byron",
        card["id"]: "Ann Byron",
        entry["id"]: "Bea Byron · Yin",
    }
    other = StudioClient.for_new_studio(client.service)
    assert (await other.staff.call("POST", "/internal/names", {"ids": ids})).json == {}
