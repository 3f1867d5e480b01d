"""Holds through the whole system: limits and scopes of real keys, ends by the clock and with a key, 304s."""

import json
from datetime import datetime

from tests.harness.bookable_studio import Bookable, bookable
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.system import System

RUN_OUT = "UPDATE bookings.bookings SET held_until = clock_timestamp() WHERE id = $1 AND status = 'held'"


async def loaded(system: System, *, seats: int = 10) -> Bookable:
    made = bookable(members=5, seats=seats)
    await system.import_lines(json.loads(json.dumps(made.lines, default=datetime.isoformat)))
    return made


async def held(partner: Client, made: Bookable, number: int = 0) -> str:
    reply = await partner.book(made.class_ids[0], made.member_ids[number], hold_seconds=900)
    assert (reply.status, reply.json()["status"]) == (201, "held"), reply.body
    return str(reply.json()["id"])


async def run_out(system: System, booking_id: str) -> None:
    async with connected(system.running.database_url("bookings")) as conn:
        assert await conn.execute(RUN_OUT, booking_id) == "UPDATE 1"


async def test_the_share_that_an_operator_sets_is_the_clients_limit(system: System) -> None:
    """Carried with the caller, at once on the replica that was asked."""
    made, issued = await loaded(system), await system.issue()
    partner = system.partner(issued["key"])
    path = f"/clients/{issued['client_id']}"
    assert (await system.operator.patch(path, {"hold_share": 1.5})).status == 422
    shown = (await system.operator.patch(path, {"hold_share": 0.2})).json()
    assert shown["hold_share"] == 0.2
    for number in range(2):
        await held(partner, made, number)
    refused = (await partner.book(made.class_ids[0], made.member_ids[2], hold_seconds=900)).json()["error"]
    assert (refused["code"], refused["details"]) == ("too_many_holds", {"limit": 2})
    assert (await system.operator.patch(path, {"hold_share": None})).json()["hold_share"] is None
    await held(partner, made, 2)


async def test_a_key_with_bookings_write_alone_gives_up_a_hold(system: System) -> None:
    """The gateway and the service agree: other bookings need bookings:cancel."""
    made = await loaded(system)
    writer = system.partner(await system.key(["bookings:write"]))
    assert (await writer.cancel(await held(writer, made))).status == 200
    seat = (await writer.book(made.class_ids[0], made.member_ids[1])).json()["id"]
    refused = await writer.cancel(seat)
    assert (refused.status, refused.json()["error"]["details"]["required_scope"]) == (403, "bookings:cancel")
    reader = system.partner(await system.key(["bookings:read"]))
    assert (await reader.cancel(seat)).json()["error"]["details"]["required_scope"] == "bookings:cancel"


async def test_a_poller_gets_the_new_count_when_a_hold_ends(system: System) -> None:
    """304 until then, 200 at once afterwards."""
    made, partner = await loaded(system), system.partner(await system.key())
    booking = await held(partner, made)
    paths = ("/classes", f"/classes/{made.class_ids[0]}", f"/bookings/{booking}")
    tags = {path: (await partner.get(path)).headers["ETag"] for path in paths}

    async def polled() -> set[int]:
        replies = [
            await partner.send("GET", path, headers={"If-None-Match": tag}) for path, tag in tags.items()
        ]
        return {reply.status for reply in replies}

    assert await polled() == {304}
    await run_out(system, booking)
    assert await polled() == {200}
    shown = (await partner.get(f"/classes/{made.class_ids[0]}")).json()
    assert (shown["held_count"], shown["available_count"]) == (0, 10)


async def test_a_revoked_client_and_an_ended_hold_give_their_seats_back(system: System) -> None:
    """The loops end them within seconds, and who waits gets the seats, with the events."""
    made = await loaded(system, seats=2)
    issued = await system.issue(client="closing")
    gone, stays = system.partner(issued["key"]), system.partner(await system.key())
    first, second = await held(gone, made), await held(stays, made, 1)
    waiting = [
        (await stays.book(made.class_ids[0], made.member_ids[number], join_waitlist=True)).json()["id"]
        for number in (2, 3)
    ]
    assert (await system.operator.post(f"/keys/{issued['id']}/revoke")).status == 200
    await run_out(system, second)
    await stays.until(f"/bookings/{first}", lambda booking: booking["status"] == "cancelled")
    for booking_id in waiting:
        await stays.until(f"/bookings/{booking_id}", lambda booking: booking["status"] == "confirmed")
    ended = await stays.until("/events", lambda page: _ends(page["data"]) == {first, second}, limit=200)
    assert len([event for event in ended["data"] if event["type"] == "booking.held"]) == 2


def _ends(events: list[dict[str, object]]) -> set[str]:
    """Of what was only held."""
    found = json.loads(json.dumps(events))
    return {one["resource"]["id"] for one in found if one["data"].get("previous") == {"status": "held"}}
