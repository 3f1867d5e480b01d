"""Memberships and purchases imported again: versions only grow, and the member stays the same."""

from tests.services.bookings.import_samples import a_member, a_membership, a_product, a_purchase, a_studio
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_cancel_booking import credits_of


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
    assert {line["reason"] for line in report["rejected"]} == {
        "It belongs to another member, with whom it stays."
    }
    assert (await client.get_ok(f"/memberships/{card['id']}"))["member_id"] == people[0]["id"]
    assert [await credits_of(client, person) for person in people] == [5, 0]


async def test_a_late_fee_has_a_currency(client: StudioClient) -> None:
    """From the line or from the stored studio. No line may leave an amount without a currency."""
    studio = a_studio(client.caller.studio_id)
    alone = await client.import_lines(studio | {"late_fee_amount": "15"})
    assert "studios_fee_has_currency" in alone["rejected"][0]["reason"]
    await client.import_all(studio | {"late_fee_amount": "15", "late_fee_currency": "USD"})
    await client.import_all(studio | {"late_fee_amount": "20"})
    assert len((await client.import_lines(studio | {"late_fee_currency": None}))["rejected"]) == 1
    await client.import_all(studio | {"late_fee_amount": "0", "late_fee_currency": None})
