"""Classes that an earlier version left with a free seat and a waitlist are repaired by the waitlist loop."""

from typing import Any

from services.bookings.actions import process_due
from services.bookings.actions.expire_waitlists import expire_waitlists, promote_stuck_waitlists
from tests.services.bookings.consistency import CHECKS, inconsistencies
from tests.services.bookings.import_samples import a_class, a_member, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich, seated

IDLE_SEATS = CHECKS["idle seat while people wait"]


async def leave_stuck(client: StudioClient, *class_ids: str, **columns: Any) -> None:
    """As an import of an earlier version: the rows change, nobody is promoted."""
    async with client.service.db.connection() as conn:
        for name, value in columns.items():
            await conn.execute(
                f"UPDATE classes SET {name} = $3 WHERE studio_id = $1 AND id = ANY ($2::uuid[])",  # noqa: S608
                client.caller.studio_id,
                list(class_ids),
                value,
            )


async def stuck(client: StudioClient) -> int:
    async with client.service.db.connection() as conn:
        return len(await conn.fetch(IDLE_SEATS, client.caller.studio_id))


async def statuses(client: StudioClient, bookings: list[Any]) -> list[str]:
    return [(await client.get_ok(f"/bookings/{booking['id']}"))["status"] for booking in bookings]


async def test_a_stuck_class_gives_its_seats_to_the_first_on_the_waitlist(client: StudioClient) -> None:
    """In the queue's order and charged, with the events of any promotion; a second step does nothing."""
    people = await rich(client, 4)
    class_ = a_class(capacity=1, credit_cost=4)
    await client.import_all(class_)
    bookings = await seated(client, class_, people)
    await leave_stuck(client, class_["id"], capacity=3)
    assert await stuck(client) == 1
    await promote_stuck_waitlists(client.service)
    assert await statuses(client, bookings) == ["confirmed", "confirmed", "confirmed", "waitlisted"]
    assert [await credits_of(client, person) for person in people] == [6, 6, 6, 10]
    told = [
        event["resource"]["id"] for event in await client.events() if event["type"] == "booking.confirmed"
    ]
    assert told == [booking["id"] for booking in bookings[1:3]]
    assert await inconsistencies(client) == []
    shown, events = await client.get_ok(f"/classes/{class_['id']}"), len(await client.events())
    await promote_stuck_waitlists(client.service)
    assert (await client.get_ok(f"/classes/{class_['id']}"), len(await client.events())) == (shown, events)


async def test_members_who_may_no_longer_book_are_skipped_in_a_stuck_class(client: StudioClient) -> None:
    """The seat goes to the next one, and a newcomer books what is left."""
    class_, people = a_class(capacity=1), [a_member() for _ in range(4)]
    await client.import_all(class_, *people)
    bookings = await seated(client, class_, people[:3])
    await client.import_all(people[1] | {"suspended": True})
    await leave_stuck(client, class_["id"], capacity=3)
    await promote_stuck_waitlists(client.service)
    assert await statuses(client, bookings) == ["confirmed", "cancelled", "confirmed"]
    assert (await client.book(class_["id"], people[3]["id"])).json["status"] == "confirmed"
    assert await inconsistencies(client) == []


async def test_stuck_classes_of_every_studio_are_repaired_in_one_step(client: StudioClient) -> None:
    """More than one batch of them. A class that has started promotes nobody and loses its waitlist."""
    other = StudioClient.for_new_studio(client.service)
    count = process_due.BATCH_SIZE // 2 + 1
    for studio in (client, other):
        people = [a_member() for _ in range(2)]
        classes = [a_class(capacity=1) for _ in range(count)]
        await studio.import_all(*people, *classes)
        for class_ in classes:
            await seated(studio, class_, people)
        await leave_stuck(studio, *(class_["id"] for class_ in classes), capacity=2)
        assert await stuck(studio) == count
    (person, waiter), late = [a_member() for _ in range(2)], a_class(capacity=1)
    await client.import_all(person, waiter, late)
    bookings = await seated(client, late, [person, waiter])
    await leave_stuck(client, late["id"], capacity=2, start_time=soon(hours=-1))
    await promote_stuck_waitlists(client.service)
    await expire_waitlists(client.service)
    assert (await stuck(client), await stuck(other)) == (0, 0)
    assert await statuses(client, bookings) == ["confirmed", "expired"]
    assert await inconsistencies(client) == await inconsistencies(other) == []


async def test_a_booking_updates_its_class_without_touching_an_index(client: StudioClient) -> None:
    """Postgres can do so (a HOT update) while no index, nor its condition, names what a booking changes."""
    async with client.service.db.connection() as conn:
        found = await conn.fetch(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'bookings' AND tablename = 'classes'"
            " AND indexdef ~ 'booked_count|version'"
        )
    assert found == []
