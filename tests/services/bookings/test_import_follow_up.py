"""What an imported change does beyond its row: seats handed on, cancelled classes let go, credits back."""

from tests.services.bookings.accounts import CHECKS
from tests.services.bookings.desk import Desk, a_class, a_member, a_studio, soon
from tests.services.bookings.test_cancel_booking import credits_of, rich, seated
from tests.services.bookings.test_import import a_booking


async def adds_up(desk: Desk) -> bool:
    async with desk.service.db.connection() as conn:
        names = ("counter", "positions", "waitlist pair", "overbooked", "credits")
        return not [row for name in names for row in await conn.fetch(CHECKS[name], desk.caller.studio_id)]


async def test_an_imported_raise_of_the_capacity_promotes_and_tells_nobody(desk: Desk) -> None:
    """One per new seat, charged as any promotion; a seat that the same batch fills is not given twice."""
    people, walk_in = await rich(desk, 4), a_member()
    class_ = a_class(credit_cost=4)
    await desk.loaded(class_, walk_in)
    bookings = await seated(desk, class_, people)
    before = len(await desk.events())
    await desk.loaded(a_booking(class_["id"], walk_in["id"]), class_ | {"capacity": 3})
    statuses = [(await desk.ok(f"/bookings/{booking['id']}"))["status"] for booking in bookings]
    assert statuses == ["confirmed", "confirmed", "waitlisted", "waitlisted"]
    assert [await credits_of(desk, person) for person in people] == [6, 6, 10, 10]
    await desk.loaded(class_ | {"capacity": 3})
    assert len(await desk.all_of("/waitlist", status="waiting")) == 2
    assert len(await desk.events()) == before
    assert await adds_up(desk)


async def test_a_class_imported_as_cancelled_lets_everybody_go(desk: Desk) -> None:
    """As when staff cancel it: credits come back, a fee is waived, the queue is cancelled; no events."""
    people = await rich(desk, 3)
    fees = {"late_fee_amount": "15", "late_fee_currency": "USD", "forfeit_credit": True}
    class_ = a_class(capacity=2, credit_cost=4, start_time=soon(hours=1))
    await desk.loaded(a_studio(desk.caller.studio_id, **fees), class_)
    bookings = await seated(desk, class_, people)
    before = len(await desk.events())
    await desk.loaded(class_ | {"status": "cancelled"})
    assert {row["status"] for row in await desk.all_of("/bookings")} == {"cancelled"}
    assert {row["status"] for row in await desk.all_of("/waitlist")} == {"cancelled"}
    assert [await credits_of(desk, person) for person in people] == [10, 10, 10]
    receipt = (await desk.cancel(bookings[0]["id"])).details["receipt"]
    assert (receipt["late_fee_status"], receipt["credits_restored"]) == ("waived", 4)
    assert (await desk.ok(f"/classes/{class_['id']}"))["booked_count"] == 0
    assert len(await desk.events()) == before
    assert await adds_up(desk)


async def test_a_booking_imported_as_cancelled_gives_its_credits_back_once(desk: Desk) -> None:
    """Also when the line comes again."""
    people = await rich(desk, 1)
    class_ = a_class(credit_cost=4)
    await desk.loaded(class_)
    (booking,) = await seated(desk, class_, people)
    assert await credits_of(desk, people[0]) == 6
    for _ in range(2):
        await desk.loaded(booking | {"status": "cancelled"})
        assert await credits_of(desk, people[0]) == 10
    assert await adds_up(desk)
