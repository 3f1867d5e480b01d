"""What ends or shortens a hold: whoever locks its class, the desk, an import."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from services.bookings.actions import desk
from services.bookings.actions.end_holds import expire_run_out_holds
from services.bookings.store import claim_and_lock
from services.bookings.wire.bookings import BookingStatus
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.holding import END, confirm, held, run_out, shown, told
from tests.services.bookings.samples import a_class, a_member, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich, seated
from tests.services.bookings.test_import import a_booking


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
    ended = await client.get_ok(f"/bookings/{booking['id']}")
    assert ended["status"] == "expired" and ended["updated_at"] > now["updated_at"], "not in the past"
    assert await inconsistencies(client) == []


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
        for person in people[1:]:
            body = {"class_id": class_["id"], "member_id": person["id"]}
            reply = await client.call("POST", "/bookings/preview", body)
            assert reply.json["outcome"] == "confirmed"
    assert reply.status == 200, reply.body
    ended = [event["resource"]["id"] for event in await client.events() if event["type"] == "booking.expired"]
    assert ended == ([] if act == "preview" else [booking["id"]])
    assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "expired"
    if act != "import":
        assert await inconsistencies(client) == []


async def test_a_hold_that_runs_out_while_the_desk_ends_another_leaves_no_idle_seat(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits gets the seats of both."""
    people = await rich(client, 5)
    class_ = a_class(capacity=2)
    await client.import_all(class_)
    holders = (client, client.with_key(client_id=new_id()))
    first, second = [
        await held(holder, class_, person) for holder, person in zip(holders, people[:2], strict=True)
    ]
    await seated(client, class_, people[2:])
    (*_, last) = await client.list_all("/waitlist", class_id=class_["id"])

    async def and_another(conn: Any, *args: Any, **more: Any) -> None:
        await expire_run_out_holds(conn, *args, **more)
        await conn.execute(END, second["id"])

    monkeypatch.setattr(desk, "expire_run_out_holds", and_another)
    await run_out(client, first)
    skipped = await client.staff.call("POST", f"/staff/waitlist/{last['id']}/skip")
    assert skipped.json["status"] == "skipped"
    assert await inconsistencies(client) == []
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 2


async def test_a_walk_in_whose_own_hold_runs_out_meanwhile_is_booked(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the lock of the class and the look at its facts."""
    class_, person = a_class(), a_member()
    await client.import_all(class_, person)
    booking, read = await held(client, class_, person), claim_and_lock.read_facts

    async def run_out_before(*args: Any) -> Any:
        if (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "held":
            await run_out(client, booking)
        return await read(*args)

    monkeypatch.setattr(claim_and_lock, "read_facts", run_out_before)
    body = {"class_id": class_["id"], "member_id": person["id"]}
    reply = await client.staff.call("POST", "/staff/bookings", body)
    assert (reply.status, reply.json["status"]) == (201, "confirmed")
    assert await inconsistencies(client) == []


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


async def test_a_hold_that_an_import_puts_on_the_waitlist_is_a_new_booking(client: StudioClient) -> None:
    """Whoever follows the events drops what was only held, and must not drop this."""
    class_, person, other = a_class(), a_member(), a_member()
    await client.import_all(class_, person, other)
    booking = await held(client, class_, person)
    line = a_booking(class_["id"], person["id"], id=booking["id"], status="waitlisted")
    await client.import_all(a_booking(class_["id"], other["id"], status="confirmed"), line, send_events=True)
    about = {"object": "booking", "id": booking["id"], "version": 2}
    (event,) = [event for event in await client.events() if event["resource"] == about]
    assert (event["type"], "previous" in event["data"]) == ("booking.created", False)
    assert booking["id"] in [row["id"] for row in await client.list_all("/bookings")]


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
