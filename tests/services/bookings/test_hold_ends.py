"""What ends or shortens a hold: time, a loop, the desk, an import, an erasure, a client without a key."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from services.bookings.actions import desk, due_work
from services.bookings.actions.end_holds import end_holds, expire_run_out_holds
from services.bookings.context import Bookings
from services.bookings.store import claim_and_lock
from services.bookings.wire.bookings import BookingStatus
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.holding import END, held, run_out, shown, told
from tests.services.bookings.samples import a_class, a_member, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_batched_bookings import lock_waiters
from tests.services.bookings.test_import import a_booking


async def test_no_hold_outlasts_the_start(client: StudioClient) -> None:
    """It ends with the class's start, also when the start is moved."""
    class_, (person,) = await client.open_class(start_time=soon(minutes=5))
    booking = await held(client, class_, person, hold_seconds=900)
    begins = (await client.get_ok(f"/classes/{class_['id']}"))["start_time"]
    assert booking["held_until"] == begins
    sooner = soon(minutes=3)
    assert (await client.change_class(class_, start_time=sooner)).status == 200
    now = await client.get_ok(f"/bookings/{booking['id']}")
    assert datetime.fromisoformat(now["held_until"]) == sooner
    event = next(event for event in await client.events() if event["type"] == "booking.updated")
    assert event["data"] == {"object": now, "previous": {"held_until": booking["held_until"]}}
    await client.begin_class(class_)
    ended = await client.get_ok(f"/bookings/{booking['id']}")
    assert ended["status"] == "expired" and ended["updated_at"] > now["updated_at"], "not in the past"
    assert await inconsistencies(client) == []


async def test_a_hold_that_runs_out_while_the_desk_ends_another_leaves_no_idle_seat(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits gets the seats of both."""
    class_, people = await client.open_class(people=5, rich=True, capacity=2)
    holders = (client, client.with_key(client_id=new_id()))
    first, second = [
        await held(holder, class_, person) for holder, person in zip(holders, people[:2], strict=True)
    ]
    await client.seated(class_, people[2:])
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
    class_, (person,) = await client.open_class()
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


async def test_a_hold_that_runs_out_while_a_booking_waits_for_the_lock_is_not_counted(
    client: StudioClient,
) -> None:
    """The instant of a decision is read after the lock, not when the transaction began."""
    class_, people = await client.open_class(people=2)
    booking = await held(client, class_, people[0])
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, class_["id"])
        waiting = asyncio.create_task(client.book(class_["id"], people[1]["id"]))
        await lock_waiters(conn, 1)
        await conn.execute("UPDATE bookings SET held_until = clock_timestamp() WHERE id = $1", booking["id"])
    reply = await waiting
    assert (reply.status, reply.json.get("status")) == (201, "confirmed")
    assert await inconsistencies(client) == []


async def test_nobody_is_checked_in_on_a_hold(client: StudioClient) -> None:
    """409 booking_held; the other staff moves are no transitions."""
    class_, (person,) = await client.open_class()
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
    class_, people = await client.open_class(people=3, capacity=9)
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
    told_last = {event["resource"]["id"]: event for event in await client.events()}
    kinds = [told_last[row["id"]]["type"] for row in rows]
    assert kinds == ["booking.created", "booking.cancelled", "booking.updated"]
    assert told_last[rows[1]["id"]]["data"]["previous"] == {"status": "held"}
    assert [row["id"] for row in await client.list_all("/bookings")] == [holds[0]["id"]]
    assert await shown(client, class_) == (1, 1, 7)
    past = soon(minutes=-1)
    await client.import_all(class_ | {"start_time": past, "end_time": soon(hours=1)}, send_events=True)
    assert (await client.get_ok(f"/bookings/{holds[2]['id']}"))["status"] == "expired"
    assert (await told(client)).count("booking.expired") == 1
    assert await shown(client, class_) == (1, 0, 8)


async def test_the_loop_ends_what_nobody_touches(
    client: StudioClient, service: Bookings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several batches; who waits is promoted, nothing is told twice, a class that fails is tried again."""
    monkeypatch.setattr(due_work, "BATCH_SIZE", 3)
    classes, waits = [a_class(capacity=6) for _ in range(4)], a_class(credit_cost=2)
    people = await client.rich(4)
    await client.import_all(*classes, waits)
    holds = [await held(client, waits, people[0])]
    holds += [await held(client, class_, person) for class_ in classes for person in people[:2]]
    place = (await client.book(waits["id"], people[3]["id"], join_waitlist=True)).json
    await run_out(client, *holds)
    # An entry without its booking cannot be promoted.
    for booking_id, ended in ((None, len(holds) - 1), (place["id"], len(holds)), (place["id"], len(holds))):
        async with service.db.connection() as conn:
            await conn.execute(
                "UPDATE waitlist SET booking_id = $1 WHERE class_id = $2", booking_id, waits["id"]
            )
        await end_holds(service)
        assert (await told(client)).count("booking.expired") == ended
    assert await client.statuses(place) == ["confirmed"]
    assert await client.credits_of(people[3]) == 8
    assert await inconsistencies(client) == []


async def test_a_suspended_members_holds_are_cancelled(client: StudioClient, service: Bookings) -> None:
    """By the next step of the loop; the seat goes to who waits."""
    class_, other, people = a_class(), a_class(capacity=6), [a_member() for _ in range(2)]
    await client.import_all(class_, other, *people)
    gone = await held(client, class_, people[0])
    stays = await held(client, other, people[1])
    place = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    await client.import_all(people[0] | {"suspended": True})
    await end_holds(service)
    assert await client.statuses(gone, place, stays) == ["cancelled", "confirmed", "held"]
    assert (await client.confirm(gone["id"])).code == "booking_not_held"
    assert await inconsistencies(client) == []


async def test_an_erased_members_holds_are_cancelled_with_the_erasure(client: StudioClient) -> None:
    """In one transaction; somebody who waits in two of the classes pays for both."""
    people, classes = await client.rich(2), [a_class(credit_cost=4) for _ in range(2)]
    await client.import_all(*classes)
    holds = [await held(client, class_, people[0]) for class_ in classes]
    (first,), (second,) = [await client.seated(class_, people[1:]) for class_ in classes]
    assert (await client.erase(member_ids=[people[0]["id"]])).json["members"] == 1
    assert await client.statuses(*holds, first, second) == ["cancelled"] * 2 + ["confirmed"] * 2
    assert await client.credits_of(people[1]) == 2
    assert await inconsistencies(client) == []


async def test_the_holds_of_a_client_without_a_key_are_released(client: StudioClient) -> None:
    """Only its own; partners cannot ask for it."""
    class_, people = await client.open_class(people=2, capacity=9)
    partner = client.with_key(client_id=new_id())
    gone, stays = await held(partner, class_, people[0]), await held(client, class_, people[1])
    body = {"studio_id": client.caller.studio_id, "client_id": partner.caller.client_id}
    assert (await client.call("POST", "/internal/clients/revoked", body)).status == 404
    assert (await client.staff.call("POST", "/internal/clients/revoked", body)).json == {"classes": 1}
    assert await client.statuses(gone, stays) == ["cancelled", "held"]
    assert await shown(client, class_) == (0, 1, 8)
    assert await inconsistencies(client) == []


async def test_an_export_leaves_holds_out(client: StudioClient) -> None:
    """Also those that have ended; a confirmed one is a booking."""
    class_, people = await client.open_class(people=4, capacity=12)
    holds = [await held(client, class_, person) for person in people]
    assert (await client.confirm(holds[0]["id"])).status == 200
    await client.cancel(holds[1]["id"])
    await run_out(client, holds[2])
    lines: list[Any] = []
    cursor = None
    while True:
        page = await client.staff.get_ok("/internal/export", studio_id=client.caller.studio_id, cursor=cursor)
        lines += page["lines"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [line["id"] for line in lines if line["object"] == "booking"] == [holds[0]["id"]]
