"""Moves into a class that has holds."""

from shared.wire import new_id
from tests.services.bookings.consistency import failed_checks
from tests.services.bookings.holding import run_out
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, a_spot
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of, seated
from tests.services.bookings.test_reschedule import booked, counts_of, moved, refused


async def test_a_hold_of_the_new_class_refuses_a_move_until_it_has_run_out(client: StudioClient) -> None:
    """`already_held`; afterwards neither the member's own old hold nor its spot is in the way."""
    person, old, new = a_member(), a_class(), a_class(spot_selection_mode="required", capacity=2)
    spots = [a_spot(new["id"]), a_spot(new["id"])]
    await client.import_all(person, old, new, *spots)
    booking = await booked(client, old, person)
    hold = await booked(client, new, person, hold_seconds=60, class_spot_id=spots[0]["id"])
    reply = await refused(client, booking, new, class_spot_id=spots[1]["id"])
    assert (reply.code, reply.details) == ("already_held", {"booking_id": hold["id"]})
    assert (await client.move(hold["id"], old["id"])).details == {"status": "held"}
    await run_out(client, hold)
    before = len(await client.events())
    await moved(client, booking, new, class_spot_id=spots[0]["id"])
    told = [(event["type"], event["resource"]["id"]) for event in (await client.events())[before:]]
    assert told == [
        ("booking.expired", hold["id"]),
        ("booking.rescheduled", booking["id"]),
        ("class.reopened", old["id"]),
    ]
    assert (await client.get_ok(f"/bookings/{hold['id']}"))["status"] == "expired"


async def test_a_hold_does_not_move_and_its_preview_says_how_it_ended(client: StudioClient) -> None:
    """Also while nobody has written that it has run out."""
    person, old, new = a_member(), a_class(), a_class()
    await client.import_all(person, old, new)
    hold = await booked(client, old, person, hold_seconds=60)
    assert (await refused(client, hold, new)).details == {"status": "held"}
    await run_out(client, hold)
    assert (await refused(client, hold, new)).details == {"status": "expired"}


async def test_a_hold_that_was_confirmed_and_moved_still_counts(client: StudioClient) -> None:
    """As one of the two holds in a day of the class in which it was made, and of no other."""
    person, *classes = a_member(), *(a_class(capacity=9) for _ in range(3))
    await client.import_all(person, *classes)
    first, *others = classes
    for class_ in others:
        hold = await booked(client, first, person, hold_seconds=60)
        await client.call("POST", f"/bookings/{hold['id']}/confirm", key=new_id())
        await moved(client, hold, class_)
    reply = await client.book(first["id"], person["id"], hold_seconds=60)
    assert (reply.code, list(reply.details)) == ("too_many_holds", ["retry_at"])
    await moved(client, hold, first)
    for _ in range(2):
        hold = await booked(client, others[1], person, hold_seconds=60)
        await client.cancel(hold["id"])
    assert (await client.book(others[1]["id"], person["id"], hold_seconds=60)).code == "too_many_holds"


async def test_a_hold_that_ran_out_in_the_new_class_goes_to_its_waitlist_first(client: StudioClient) -> None:
    """Two holds end: one seat is for who waits there, the other for who moves.

    The member who waits in both classes has one credit, which pays for one seat.
    """
    product, people = a_product(1), [a_member() for _ in range(5)]
    purchases = [a_purchase(person["id"], product) for person in people]
    old, new = a_class(credit_cost=1), a_class(credit_cost=1, capacity=2)
    await client.import_all(product, *people, *purchases, old, new)
    clients = [client, client.with_key(client_id=new_id())]
    holds = [
        await booked(one, new, person, hold_seconds=60)
        for one, person in zip(clients, people[:2], strict=True)
    ]
    mover, waits_here = await seated(client, old, [people[2], people[3]])
    (waits_there,) = await seated(client, new, [people[3]])
    await run_out(client, *holds)
    assert (await moved(client, mover, new))["booking"]["class_id"] == new["id"]
    assert (await client.get_ok(f"/bookings/{waits_there['id']}"))["status"] == "confirmed"
    # The credit has paid for that seat.
    assert (await client.get_ok(f"/bookings/{waits_here['id']}"))["status"] == "cancelled"
    assert await credits_of(client, people[3]) == 0
    assert await counts_of(client, old, new) == [0, 2]
    assert await failed_checks(client, "counter", "positions", "waitlist pair", "credits", "receipt") == []
