"""An import and its dry run beside partners who book: who waits for whom, and what bad lines cost."""

import asyncio

import pytest

from services.bookings.context import Bookings
from services.bookings.store import import_locks
from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product, a_purchase, a_spot
from tests.services.bookings.studio_client import StudioClient, numbered
from tests.services.bookings.test_batched_bookings import lock_waiters
from tests.services.bookings.test_import import a_booking, an_entry


async def test_a_dry_run_waits_for_no_lock_and_takes_none(client: StudioClient) -> None:
    """Of any class or member, whatever its lines would change; and it stores nothing."""
    class_, person, newcomer, product = a_class(capacity=5), a_member(), a_member(), a_product()
    booking = a_booking(class_["id"], person["id"])
    await client.import_all(class_, person, booking)
    lines = [
        product,
        person | {"first_name": "Renamed"},
        newcomer,
        a_membership(person["id"]),
        a_purchase(person["id"], product),
        class_ | {"capacity": 7},
        a_spot(class_["id"]),
        booking | {"status": "checked_in"},
        a_booking(class_["id"], newcomer["id"], status="waitlisted"),
        an_entry(class_["id"], newcomer["id"], 1),
    ]
    unknown, studio_id = a_booking(class_["id"], new_id()), client.caller.studio_id
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", studio_id, class_["id"])
        await conn.execute("SELECT lock_members($1, $2::uuid[])", studio_id, [person["id"]])
        async with asyncio.timeout(10):
            body = numbered(client, [*lines, unknown])
            reply = await client.staff.call("POST", "/internal/import/check", body)
        assert [line["line"] for line in reply.json["rejected"]] == [len(lines) + 1]
    assert (await client.get_ok(f"/classes/{class_['id']}"))["capacity"] == 5
    assert len(await client.list_all("/members")) == 1
    await client.import_all(*lines)


async def test_an_import_does_not_hold_a_class_while_it_waits_for_another(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a bounded time it gives up with 503, and a partner can book the class that it held."""
    monkeypatch.setattr(import_locks, "LOCK_TIMEOUT", "SET LOCAL lock_timeout = '200ms'")
    held, free = sorted((a_class(capacity=5), a_class(capacity=5)), key=lambda one: one["id"], reverse=True)
    people = [a_member(), a_member()]
    await client.import_all(held, free, *people)
    lines = [a_booking(class_["id"], people[0]["id"]) for class_ in (held, free)]
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, held["id"])
        async with asyncio.timeout(10):
            reply, booked = await asyncio.gather(
                client.staff.call("POST", "/internal/import", numbered(client, lines)),
                client.book(free["id"], people[1]["id"]),
            )
        assert (reply.status, reply.code, booked.status) == (503, "service_unavailable", 201)
    await client.import_all(*lines)


async def test_an_import_line_is_refused_for_what_was_stored_when_its_class_was_locked(
    service: Bookings, client: StudioClient
) -> None:
    """A cancellation that commits while the import waits for the class is final for the import."""
    class_, (person,) = await client.open_class(capacity=5)
    booking = (await client.book(class_["id"], person["id"])).json
    line = {name: value for name, value in booking.items() if name != "waitlist_position"}
    async with service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, class_["id"])
        cancelling = asyncio.create_task(client.cancel(booking["id"]))
        await lock_waiters(conn, 1)
        importing = asyncio.create_task(client.import_lines(line | {"status": "checked_in"}))
        await lock_waiters(conn, 2)
    assert (await cancelling).status == 200
    (refused,) = (await importing)["rejected"]
    assert refused["reason"] == "The booking was cancelled here, which is final."
