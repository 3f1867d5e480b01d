"""Holds that end by themselves: the loop, a member who is erased or suspended, a client without a key."""

from typing import Any

from services.bookings.actions.end_holds import end_holds
from services.bookings.context import Bookings
from services.bookings.store import bookings
from shared.http.response import Response, with_entity_tag
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.holding import confirm, held, run_out, shown, told
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich


async def test_the_loop_ends_what_nobody_touches(client: StudioClient, service: Bookings) -> None:
    """Many classes and more holds than one batch; who waits is promoted; nothing is told twice."""
    classes, people = [a_class(capacity=6) for _ in range(60)], await rich(client, 4)
    await client.import_all(*classes)
    holds = [await held(client, class_, person) for class_ in classes for person in people[:2]]
    waits = a_class(credit_cost=2)
    await client.import_all(waits)
    holds.append(await held(client, waits, people[0]))
    place = (await client.book(waits["id"], people[3]["id"], join_waitlist=True)).json
    await run_out(client, *holds)
    await end_holds(service)
    await end_holds(service)
    assert (await told(client)).count("booking.expired") == len(holds)
    assert (await client.get_ok(f"/bookings/{place['id']}"))["status"] == "confirmed"
    assert await credits_of(client, people[3]) == 8
    async with service.db.connection() as conn:
        assert await bookings.run_out_holds(conn, 10, None) == []
    assert await inconsistencies(client) == []


async def test_one_class_that_fails_does_not_stop_the_others(client: StudioClient, service: Bookings) -> None:
    """It is tried again at the next step."""
    classes, person = [a_class(capacity=3) for _ in range(2)], a_member()
    await client.import_all(*classes, person)
    holds = [await held(client, class_, person) for class_ in classes]
    await run_out(client, *holds)
    async with service.db.connection() as conn:
        await conn.execute("UPDATE classes SET held_count = 0 WHERE id = $1", classes[0]["id"])
    await end_holds(service)
    async with service.db.connection() as conn:
        left = await bookings.run_out_holds(conn, 10, None)
        assert [row["class_id"] for row in left] == [classes[0]["id"]]
        await conn.execute("UPDATE classes SET held_count = 1 WHERE id = $1", classes[0]["id"])
    await end_holds(service)
    assert await inconsistencies(client) == []


async def test_a_suspended_members_holds_are_cancelled(client: StudioClient, service: Bookings) -> None:
    """By the next step of the loop; the seat goes to who waits."""
    class_, people = a_class(), [a_member() for _ in range(2)]
    other = a_class(capacity=6)
    await client.import_all(class_, other, *people)
    gone = await held(client, class_, people[0])
    stays = await held(client, other, people[1])
    place = (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json
    await client.import_all(people[0] | {"suspended": True})
    await end_holds(service)
    assert (await client.get_ok(f"/bookings/{gone['id']}"))["status"] == "cancelled"
    assert (await client.get_ok(f"/bookings/{place['id']}"))["status"] == "confirmed"
    assert (await client.get_ok(f"/bookings/{stays['id']}"))["status"] == "held"
    assert (await confirm(client, gone)).code == "booking_not_held"
    assert await inconsistencies(client) == []


async def test_an_erased_members_holds_are_cancelled_with_the_erasure(client: StudioClient) -> None:
    """In one transaction; somebody who waits in two of the classes pays for both."""
    people, classes = await rich(client, 2), [a_class(credit_cost=4) for _ in range(2)]
    await client.import_all(*classes)
    holds = [await held(client, class_, people[0]) for class_ in classes]
    places = [
        (await client.book(class_["id"], people[1]["id"], join_waitlist=True)).json for class_ in classes
    ]
    body = {"studio_id": client.caller.studio_id, "member_ids": [people[0]["id"]]}
    assert (await client.staff.call("POST", "/internal/erase", body)).json["members"] == 1
    for booking in holds:
        assert (await client.get_ok(f"/bookings/{booking['id']}"))["status"] == "cancelled"
    for place in places:
        assert (await client.get_ok(f"/bookings/{place['id']}"))["status"] == "confirmed"
    assert await credits_of(client, people[1]) == 2
    assert await inconsistencies(client) == []


async def test_the_holds_of_a_client_without_a_key_are_released(client: StudioClient) -> None:
    """Only its own; partners cannot ask for it."""
    class_, people = a_class(capacity=9), [a_member() for _ in range(2)]
    await client.import_all(class_, *people)
    partner = client.with_key(client_id=new_id())
    gone, stays = await held(partner, class_, people[0]), await held(client, class_, people[1])
    body = {"studio_id": client.caller.studio_id, "client_id": partner.caller.client_id}
    assert (await client.call("POST", "/internal/clients/revoked", body)).status == 404
    assert (await client.staff.call("POST", "/internal/clients/revoked", body)).json == {"classes": 1}
    assert (await client.get_ok(f"/bookings/{gone['id']}"))["status"] == "cancelled"
    assert (await client.get_ok(f"/bookings/{stays['id']}"))["status"] == "held"
    assert await shown(client, class_) == (0, 1, 8)
    assert await inconsistencies(client) == []


async def test_an_export_leaves_holds_out(client: StudioClient) -> None:
    """Also those that have ended; a confirmed one is a booking."""
    class_, people = a_class(capacity=12), [a_member() for _ in range(4)]
    await client.import_all(class_, *people)
    holds = [await held(client, class_, person) for person in people]
    assert (await confirm(client, holds[0])).status == 200
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


async def test_a_poller_across_the_end_gets_the_new_count(client: StudioClient) -> None:
    """Nobody has written anything, yet the tag differs, of the class, of its list and of the booking."""
    class_, person = a_class(capacity=3), a_member()
    await client.import_all(class_, person)
    booking = await held(client, class_, person)
    paths = (f"/classes/{class_['id']}", "/classes", f"/bookings/{booking['id']}")

    async def poll(path: str, tag: bytes | None) -> tuple[int, bytes]:
        body = (await client.get(path)).body
        response = with_entity_tag(Response(body), [(b"if-none-match", tag)] if tag else [])
        return response.status, dict(response.headers)[b"etag"]

    tags = {path: (await poll(path, None))[1] for path in paths}
    assert {(await poll(path, tag))[0] for path, tag in tags.items()} == {304}
    await run_out(client, booking)
    assert {(await poll(path, tag))[0] for path, tag in tags.items()} == {200}
    assert (await client.get_ok("/classes"))["data"][0]["available_count"] == 3
