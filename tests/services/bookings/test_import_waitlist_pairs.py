"""Waitlist pairs: an import leaves no waiting entry without its booking, nor the reverse."""

import random

import pytest

from services.bookings.wire.bookings import BookingStatus, WaitlistStatus
from shared.wire import new_id
from tests.services.bookings.consistency import failed_checks
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking, an_entry


async def halves(client: StudioClient) -> list[str]:
    return await failed_checks(client, "waitlist pair", "counter", "positions")


async def test_a_historic_line_does_not_end_what_waits(client: StudioClient) -> None:
    """Neither a booking's the entry of another booking, nor an entry's the booking of another entry."""
    class_, _ = await client.open_class(people=0, capacity=0)
    for status in ("cancelled", "expired", "no_show"):
        member = a_member()
        entry = an_entry(class_["id"], member["id"], 1)
        await client.import_all(member, entry)
        await client.import_all(a_booking(class_["id"], member["id"], status=status))
        assert (await client.get_ok(f"/waitlist/{entry['id']}"))["status"] == "waiting"
    for status in ("cancelled", "skipped", "expired", "converted"):
        member = a_member()
        place = a_booking(class_["id"], member["id"], status="waitlisted")
        await client.import_all(member, place)
        await client.import_all(an_entry(class_["id"], member["id"], 1, status=status))
        assert (await client.get_ok(f"/bookings/{place['id']}"))["status"] == "waitlisted"
        assert await halves(client) == []
    assert (await client.cancel(str(place["id"]))).status == 200
    assert (await client.cancel_class(class_)).status == 200


async def test_an_entry_whose_booking_has_no_line_waits_with_a_booking_of_its_own(
    client: StudioClient,
) -> None:
    """A booking's line that comes later is another booking of the member, and refused as such."""
    class_, member = a_class(capacity=0), a_member()
    entry = an_entry(class_["id"], member["id"], 1)
    await client.import_all(class_, member, entry)
    (made,) = await client.list_all("/bookings")
    for status in ("confirmed", "waitlisted"):
        report = await client.import_lines(a_booking(class_["id"], member["id"], status=status))
        assert report["rejected"][0]["reason"] == "The member already has a booking in this class."
    await client.import_all(made | {"status": "confirmed"})
    assert await halves(client) == []
    assert (await client.get_ok(f"/waitlist/{entry['id']}"))["converted_to_booking"] is True


async def test_a_waitlist_line_names_the_entry_that_its_bookings_line_made(client: StudioClient) -> None:
    """In another batch, too. It names it once: another line for the same place is refused."""
    class_, member = a_class(capacity=0), a_member()
    place = a_booking(class_["id"], member["id"], status="waitlisted")
    await client.import_all(class_, member, place)
    assert [row["id"] for row in await client.list_all("/waitlist")] == [place["id"]]
    entry = an_entry(class_["id"], member["id"], 1, booking_id=place["id"])
    await client.import_all(entry)
    await client.import_all(place, entry)
    assert [row["id"] for row in await client.list_all("/waitlist")] == [entry["id"]]
    report = await client.import_lines(entry | {"id": new_id()})
    assert report["rejected"][0]["reason"] == "The member is already on the waitlist of this class."
    assert await halves(client) == []


async def test_what_was_promoted_here_stays(client: StudioClient) -> None:
    """No later line takes the seat away, and an entry that left the queue does not come back."""
    class_, people = await client.open_class(people=2)
    (first,) = await client.seated(class_, people[:1])
    entry = an_entry(class_["id"], people[1]["id"], 1)
    await client.import_all(entry)
    (made,) = await client.list_all("/bookings", status="waitlisted")
    await client.import_all(entry)
    assert [row["id"] for row in await client.list_all("/bookings", status="waitlisted")] == [made["id"]]
    await client.cancel(first["id"])
    other = await client.import_lines(a_booking(class_["id"], people[1]["id"], status="waitlisted"))
    again = await client.import_lines(entry, made)
    assert [len(report["rejected"]) for report in (other, again)] == [1, 2]
    assert {line["reason"] for line in again["rejected"]} == {
        "The entry has left the waitlist, which is final.",
        "The booking has left the waitlist; it cannot wait again.",
    }
    assert (await client.get_ok(f"/bookings/{made['id']}"))["status"] == "confirmed"
    assert (await client.cancel(made["id"])).status == 200
    await client.import_all(a_booking(class_["id"], people[1]["id"]))
    assert (await client.get_ok(f"/bookings/{made['id']}"))["status"] == "cancelled"
    assert await halves(client) == []


async def test_what_was_cancelled_here_is_final_for_the_import(client: StudioClient) -> None:
    """Its receipt has been issued: a live line is refused with a reason, the same state is accepted."""
    class_, (member,) = await client.open_class()
    (booking,) = await client.seated(class_, [member])
    await client.cancel(booking["id"])
    for status in ("confirmed", "waitlisted", "no_show"):
        report = await client.import_lines(booking | {"status": status})
        assert report["rejected"][0]["reason"] == "The booking was cancelled here, which is final."
    await client.import_all(booking | {"status": "cancelled"})
    assert (await client.cancel(booking["id"])).code == "booking_already_cancelled"
    assert (await client.book(class_["id"], member["id"])).status == 201


async def test_a_moved_booking_stays_in_its_class_and_keeps_its_old_entry(client: StudioClient) -> None:
    """A line with the class that it has left is refused; its entry there, long converted, is not."""
    old, new, people = a_class(), a_class(), [a_member(), a_member()]
    await client.import_all(old, new, *people)
    first, second = await client.seated(old, people)
    await client.cancel(first["id"])
    (entry,) = await client.list_all("/waitlist")
    assert (await client.move(second["id"], new["id"])).status == 200
    shown = await client.get_ok(f"/bookings/{second['id']}")
    await client.import_all(shown, entry | {"booking_id": second["id"]})
    report = await client.import_lines(shown | {"class_id": old["id"]})
    assert report["rejected"][0]["reason"] == "It belongs to another class or member, where it stays."
    assert await client.get_ok(f"/bookings/{second['id']}") == shown
    assert await halves(client) == []


@pytest.mark.parametrize("seed", range(4))
async def test_any_sequence_of_lines_leaves_pairs_intact(client: StudioClient, seed: int) -> None:
    """Halves of a few pairs in every state and order, mixed with cancellations: refused or applied whole."""
    dice = random.Random(seed)
    class_, people = await client.open_class(people=3, capacity=2)
    halved = [
        make(class_["id"], person["id"])
        for person in people
        for make in (a_booking, lambda c, m: an_entry(c, m, 1))
        for _ in range(2)
    ]
    states: dict[str, list[str]] = {"booking": list(BookingStatus), "waitlist": list(WaitlistStatus)}
    for _ in range(40):
        chosen = dice.sample(halved, dice.choice((1, 1, 2, 3)))
        await client.import_lines(
            *(line | {"status": dice.choice(states[str(line["object"])])} for line in chosen)
        )
        if dice.random() < 0.3:
            rows = await client.list_all("/bookings")
            live = [row["id"] for row in rows if row["status"] in ("confirmed", "waitlisted")]
            replies = [await client.cancel(booking_id) for booking_id in live[:1]]
            assert [reply.status for reply in replies] in ([], [200])
        assert await halves(client) == []
    cancelled = await client.cancel_class(class_)
    assert (cancelled.status, cancelled.json["booked_count"]) == (200, 0)
    assert await halves(client) == []
