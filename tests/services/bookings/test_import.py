"""The import of this service's lines: upserts by id, counters right, credits once, and what follows."""

from datetime import UTC, datetime

from services.bookings.wire.bookings import BookingStatus, WaitlistStatus
from services.bookings.wire.classes import ClassStatus
from services.bookings.wire.members import MembershipStatus, PurchaseStatus
from shared.wire import new_id
from tests.services.bookings.consistency import failed_checks, inconsistencies
from tests.services.bookings.samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_spot,
    a_studio,
    soon,
)
from tests.services.bookings.studio_client import StudioClient

PHONE = "+12125550123"


def a_booking(class_id: str, member_id: str, **fields: object) -> dict[str, object]:
    line = {"object": "booking", "id": new_id(), "class_id": class_id, "member_id": member_id}
    return line | {"status": "confirmed", "booking_source": "studio"} | fields


def an_entry(class_id: str, member_id: str, position: int, **fields: object) -> dict[str, object]:
    line = {"object": "waitlist", "id": new_id(), "class_id": class_id, "member_id": member_id}
    return line | {"position": position, "status": "waiting", "converted_to_booking": False} | fields


async def test_a_bad_line_is_named_and_the_good_ones_stay(client: StudioClient) -> None:
    """By number and reason: unknown kinds, misspelt fields, ranges, unknown references, a taken email."""
    member, class_ = a_member(email="ada@example.com"), a_class()
    report = await client.import_lines(
        member,
        class_,
        {"object": "unicorn", "id": new_id()},
        a_class(capcity=3),
        a_class(capacity=-1),
        a_class(end_time=datetime(2020, 1, 1, tzinfo=UTC)),
        a_member(email="ADA@example.com"),
        a_member(email="no address"),
        a_booking(new_id(), member["id"]),
        a_booking(class_["id"], new_id()),
        a_booking(class_["id"], member["id"]),
        a_purchase(new_id(), a_product()),
    )
    assert sorted(line["line"] for line in report["rejected"]) == [3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert report["imported"] == 3
    reasons = {line["line"]: line["reason"] for line in report["rejected"]}
    assert "capcity" in reasons[4] and "already taken" in reasons[7] and "not among" in reasons[9]
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1


async def test_a_queue_may_come_in_several_batches(client: StudioClient) -> None:
    """Bookings first, as in an export: linked, without gaps, and promoted in order."""
    class_, people = a_class(), [a_member() for _ in range(4)]
    seat = a_booking(class_["id"], people[0]["id"])
    places = [a_booking(class_["id"], person["id"], status="waitlisted") for person in people[1:]]
    entries = [an_entry(class_["id"], person["id"], 10 * n) for n, person in enumerate(people[1:], 1)]
    await client.import_all(class_, *people, seat)
    await client.import_all(places[1])
    await client.import_all(entries[0], places[2], places[0])
    await client.import_all(entries[2], entries[1])
    waiting = await client.list_all("/waitlist", class_id=class_["id"])
    assert sorted(row["id"] for row in waiting) == sorted(str(line["id"]) for line in entries)
    positions = {row["member_id"]: row["position"] for row in waiting}
    assert [positions[person["id"]] for person in people[1:]] == [1, 2, 3]
    booked = {row["id"] for row in await client.list_all("/bookings")}
    assert booked == {line["id"] for line in (seat, *places)}
    await client.cancel(str(seat["id"]))
    assert (await client.get_ok(f"/bookings/{places[0]['id']}"))["status"] == "confirmed"


async def test_an_entry_follows_its_booking_and_a_booking_its_entry(client: StudioClient) -> None:
    """A line for one half of a pair settles the other."""
    class_, people = a_class(), [a_member() for _ in range(3)]
    places = [a_booking(class_["id"], person["id"], status="waitlisted") for person in people]
    entries = [an_entry(class_["id"], person["id"], n) for n, person in enumerate(people, 1)]
    await client.import_all(class_, *people, *places, *entries)
    await client.import_all(places[0] | {"status": "confirmed"}, entries[1] | {"status": "expired"})
    rows = {row["id"]: row for row in await client.list_all("/waitlist")}
    assert [rows[line["id"]]["status"] for line in entries] == ["converted", "expired", "waiting"]
    assert rows[entries[2]["id"]]["position"] == 1
    assert (await client.get_ok(f"/bookings/{places[1]['id']}"))["status"] == "expired"
    assert await failed_checks(client, "waitlist pair") == []


async def test_a_purchase_grants_when_its_product_is_known(client: StudioClient) -> None:
    """The product may come later, and is found by its key if the purchase has no product id. Granted once."""
    product, member = a_product(4), a_member()
    linked, unlinked = a_purchase(member["id"], product), a_purchase(member["id"], product, product_id=None)
    await client.import_all(member, linked, unlinked)
    assert await client.credits_of(member) == 0
    for _ in range(2):
        await client.import_all(product)
        await client.import_all(linked, unlinked)
    assert await client.credits_of(member) == 8
    await client.import_all(product | {"credits_granted": 9}, linked | {"status": "refunded"})
    assert await client.credits_of(member) == 8
    assert await inconsistencies(client) == []


async def test_what_the_wire_does_not_show_stays_when_a_line_leaves_it_out(client: StudioClient) -> None:
    """A dump of GET answers can be imported without losing cost, limits, dates or suspension."""
    class_, member = a_class(credit_cost=2, waitlist_capacity=0), a_member(suspended=True, phone=PHONE)
    card = a_membership(member["id"], ends_at="2030-01-01T00:00:00Z")
    await client.import_all(class_, member, card)
    dumped = [
        await client.get_ok(f"/classes/{class_['id']}"),
        await client.get_ok(f"/members/{member['id']}"),
        await client.get_ok(f"/memberships/{card['id']}"),
    ]
    await client.import_all(*dumped)
    async with client.service.db.connection() as conn:
        row = await conn.fetchrow(
            """SELECT c.credit_cost, c.waitlist_capacity, m.suspended, m.phone, s.ends_at IS NOT NULL AS dated
               FROM classes c, members m, memberships s WHERE c.studio_id = $1 AND m.studio_id = $1
               AND s.studio_id = $1""",
            client.caller.studio_id,
        )
    assert row is not None and tuple(row) == (2, 0, True, PHONE, True)


async def test_every_state_can_be_imported_and_read(client: StudioClient) -> None:
    """Classes, memberships, purchases, bookings and waitlist entries in each of their states."""
    class_, product = a_class(capacity=2), a_product()
    classes = [a_class(status=status) for status in ClassStatus]
    people = [a_member() for _ in range(12)]
    first = people[0]["id"]
    cards = [a_membership(first, status=status) for status in MembershipStatus]
    bought = [a_purchase(first, product, status=status) for status in (*PurchaseStatus, None)]
    held = [
        a_booking(class_["id"], people[n]["id"], status=status)
        for n, status in enumerate(set(BookingStatus) - {"held"})
    ]
    queue = [
        an_entry(class_["id"], people[-1 - n]["id"], n + 1, status=status)
        for n, status in enumerate(WaitlistStatus)
    ]
    await client.import_all(class_, product, *classes, *people, *cards, *bought, *held, *queue)
    for path, lines in (
        ("/classes", classes),
        ("/memberships", cards),
        ("/purchases", bought),
        ("/bookings", held),
        ("/waitlist", queue),
    ):
        for line in lines:
            assert (await client.get_ok(f"{path}/{line['id']}"))["status"] == line["status"]


async def test_a_booking_imported_as_cancelled_gives_its_credits_back_once(client: StudioClient) -> None:
    """Also when the line comes again."""
    class_, people = await client.open_class(rich=True, credit_cost=4)
    (booking,) = await client.seated(class_, people)
    assert await client.credits_of(people[0]) == 6
    for _ in range(2):
        await client.import_all(booking | {"status": "cancelled"})
        assert await client.credits_of(people[0]) == 10


async def test_the_version_of_a_membership_never_goes_back(client: StudioClient) -> None:
    """The same line changes nothing. A change adds one, or sets the line's version if that is higher."""
    member = a_member()
    card = a_membership(member["id"])
    await client.import_all(member, card)
    path = f"/memberships/{card['id']}"
    await client.staff.call("POST", f"/staff{path}/pause", {})
    await client.import_all(card)
    back = await client.get_ok(path)
    assert (back["status"], back["state_version"]) == ("active", 3)
    await client.import_all(card)
    assert await client.get_ok(path) == back
    await client.import_all(card | {"auto_renew": False, "state_version": 9})
    assert (await client.get_ok(path))["state_version"] == 9
    await client.import_all(card | {"status": "cancelled", "state_version": 4})
    assert (await client.get_ok(path))["state_version"] == 10


async def test_a_membership_or_purchase_stays_with_its_member(client: StudioClient) -> None:
    """A line that names another member is refused: credits were granted to the first."""
    product, people = a_product(5), [a_member(), a_member()]
    card, bought = a_membership(people[0]["id"], status="expired"), a_purchase(people[0]["id"], product)
    await client.import_all(product, *people, card, bought)
    report = await client.import_lines(*(line | {"member_id": people[1]["id"]} for line in (card, bought)))
    assert [line["line"] for line in report["rejected"]] == [1, 2]
    reasons = {line["reason"] for line in report["rejected"]}
    assert reasons == {"It belongs to another member, with whom it stays."}
    assert (await client.get_ok(f"/memberships/{card['id']}"))["member_id"] == people[0]["id"]
    assert [await client.credits_of(person) for person in people] == [5, 0]


async def test_a_late_fee_has_a_currency(client: StudioClient) -> None:
    """From the line or from the stored studio. No line may leave an amount without a currency."""
    studio = a_studio(client.caller.studio_id)
    alone = await client.import_lines(studio | {"late_fee_amount": "15"})
    assert "studios_fee_has_currency" in alone["rejected"][0]["reason"]
    await client.import_all(studio | {"late_fee_amount": "15", "late_fee_currency": "USD"})
    await client.import_all(studio | {"late_fee_amount": "20"})
    assert len((await client.import_lines(studio | {"late_fee_currency": None}))["rejected"]) == 1
    await client.import_all(studio | {"late_fee_amount": "0", "late_fee_currency": None})


async def test_spots_and_receipts_have_one_booking(client: StudioClient) -> None:
    """Lines of one batch may exchange spots. A spot of another class, or a taken one, is refused."""
    class_, other, people = a_class(capacity=9), a_class(), [a_member() for _ in range(3)]
    spots = [a_spot(one["id"]) for one in (class_, class_, other)]
    seats = [
        a_booking(class_["id"], person["id"], class_spot_id=spot["id"])
        for person, spot in zip(people, spots[:2], strict=False)
    ]
    await client.import_all(class_, other, *people, *spots, *seats)
    first, second = ({"class_spot_id": spot["id"]} for spot in spots[:2])
    await client.import_all(seats[0] | second, seats[1] | first)
    assert (await client.get_ok(f"/bookings/{seats[0]['id']}"))["class_spot_id"] == spots[1]["id"]
    late = a_booking(class_["id"], people[2]["id"])
    for spot, reason in ((spots[0], "already taken"), (spots[2], "another class")):
        report = await client.import_lines(late | {"class_spot_id": spot["id"]})
        assert reason in report["rejected"][0]["reason"]
    moved = await client.import_lines(late, late | {"class_id": other["id"]})
    assert [row["line"] for row in moved["rejected"]] == [2]
    now = soon().isoformat()
    receipt = {"id": new_id(), "cancelled_at": now, "free_cancel_until": now, "late_cancel": False}
    receipt |= {"late_fee_status": "none", "credits_forfeited": 0, "credits_restored": 0}
    ended = [line | {"status": "cancelled", "cancellation": receipt} for line in (seats[0], late)]
    await client.import_all(ended[0])
    report = await client.import_lines(ended[1])
    assert "cancellation is already taken" in report["rejected"][0]["reason"]
