"""What an import does beyond its rows: promotions, released bookings of cancelled classes, credits."""

from tests.services.bookings.consistency import CHECKS
from tests.services.bookings.import_samples import a_class, a_member, a_studio, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, rich, seated
from tests.services.bookings.test_import import a_booking


async def adds_up(client: StudioClient) -> bool:
    async with client.service.db.connection() as conn:
        names = ("counter", "positions", "waitlist pair", "overbooked", "credits")
        return not [row for name in names for row in await conn.fetch(CHECKS[name], client.caller.studio_id)]


async def test_an_imported_raise_of_the_capacity_promotes_without_events(client: StudioClient) -> None:
    """One per new seat, charged as any promotion; a seat that the same batch fills is not given twice."""
    people, walk_in = await rich(client, 4), a_member()
    class_ = a_class(credit_cost=4)
    await client.import_all(class_, walk_in)
    bookings = await seated(client, class_, people)
    before = len(await client.events())
    await client.import_all(a_booking(class_["id"], walk_in["id"]), class_ | {"capacity": 3})
    statuses = [(await client.get_ok(f"/bookings/{booking['id']}"))["status"] for booking in bookings]
    assert statuses == ["confirmed", "confirmed", "waitlisted", "waitlisted"]
    assert [await credits_of(client, person) for person in people] == [6, 6, 10, 10]
    await client.import_all(class_ | {"capacity": 3})
    assert len(await client.list_all("/waitlist", status="waiting")) == 2
    assert len(await client.events()) == before
    assert await adds_up(client)


async def test_a_class_imported_as_cancelled_releases_all_bookings(client: StudioClient) -> None:
    """As when staff cancel it: credits come back, a fee is waived, the queue is cancelled; no events."""
    people = await rich(client, 3)
    fees = {"late_fee_amount": "15", "late_fee_currency": "USD", "forfeit_credit": True}
    class_ = a_class(capacity=2, credit_cost=4, start_time=soon(hours=1))
    await client.import_all(a_studio(client.caller.studio_id, **fees), class_)
    bookings = await seated(client, class_, people)
    before = len(await client.events())
    await client.import_all(class_ | {"status": "cancelled"})
    assert {row["status"] for row in await client.list_all("/bookings")} == {"cancelled"}
    assert {row["status"] for row in await client.list_all("/waitlist")} == {"cancelled"}
    assert [await credits_of(client, person) for person in people] == [10, 10, 10]
    receipt = (await client.cancel(bookings[0]["id"])).details["receipt"]
    assert (receipt["late_fee_status"], receipt["credits_restored"]) == ("waived", 4)
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert len(await client.events()) == before
    assert await adds_up(client)


async def test_a_booking_imported_as_cancelled_gives_its_credits_back_once(client: StudioClient) -> None:
    """Also when the line comes again."""
    people = await rich(client, 1)
    class_ = a_class(credit_cost=4)
    await client.import_all(class_)
    (booking,) = await seated(client, class_, people)
    assert await credits_of(client, people[0]) == 6
    for _ in range(2):
        await client.import_all(booking | {"status": "cancelled"})
        assert await credits_of(client, people[0]) == 10
    assert await adds_up(client)
