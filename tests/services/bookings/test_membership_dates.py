"""How dates change a membership, and what staff may not do to it."""

from typing import Any

from services.bookings.actions.due_work import update_due_memberships
from tests.services.bookings.samples import a_class, a_member, a_membership, soon
from tests.services.bookings.studio_client import StudioClient


def pause(**delta: float) -> dict[str, Any]:
    return {"paused_at": soon(days=-9), "resumes_at": soon(**delta), "reason": None}


def ending(**delta: float) -> dict[str, Any]:
    known = {"requested_at": soon(days=-9), "at_period_end": True, "reason": None}
    return known | {"effective_at": soon(**delta)}


async def test_dates_change_a_memberships_status(client: StudioClient) -> None:
    """Eligibility follows the dates at once; the stored status follows, with one new version."""
    class_, _ = await client.open_class(people=0, credit_cost=1)
    for fields, after, books in (
        ({"status": "paused", "pause": pause(seconds=-1)}, "active", True),
        ({"status": "paused", "pause": pause(hours=1)}, "paused", False),
        ({"cancellation": ending(seconds=-1)}, "cancelled", False),
        ({"cancellation": ending(days=9)}, "active", True),
        ({"status": "paused", "pause": pause(days=-1), "cancellation": ending(days=-2)}, "cancelled", False),
        ({"ends_at": soon(seconds=-1), "auto_renew": False}, "expired", False),
        ({"ends_at": soon(seconds=-1), "auto_renew": True}, "active", False),
        ({"status": "past_due", "cancellation": None}, "past_due", False),
        ({"status": "pending", "starts_at": soon(seconds=-1)}, "active", True),
        ({"status": "pending", "starts_at": soon(hours=1)}, "pending", False),
        ({"status": "pending"}, "pending", False),
        (
            {"status": "pending", "starts_at": soon(days=-2), "ends_at": soon(days=-1), "auto_renew": False},
            "expired",
            False,
        ),
    ):
        member = a_member()
        card = a_membership(member["id"], **fields)
        await client.import_all(member, card)
        body = {"class_id": class_["id"], "member_id": member["id"]}
        for _ in range(2):
            outcome = (await client.call("POST", "/bookings/preview", body)).json["outcome"]
            assert outcome == ("confirmed" if books else "refused"), fields
            assert await update_due_memberships(client.service) is False
            shown = await client.get_ok(f"/memberships/{card['id']}")
            version = 1 if after == card["status"] else 2
            assert (shown["status"], shown["state_version"]) == (after, version), fields
        assert after == "paused" or shown["pause"] is None


async def test_each_change_of_a_membership_is_told_with_the_old_values(client: StudioClient) -> None:
    """A pause, its scheduled end, and a cancellation."""
    member = a_member()
    card = a_membership(member["id"])
    await client.import_all(member, card)
    path = f"/staff/memberships/{card['id']}"
    await client.staff.call("POST", f"{path}/pause", {"resumes_at": soon(milliseconds=1)})
    async with client.service.db.connection() as conn:
        await conn.execute("UPDATE memberships SET due_at = now() WHERE id = $1", card["id"])
        await conn.execute("SELECT pg_sleep(0.01)")
    await update_due_memberships(client.service)
    await client.staff.call("POST", f"{path}/cancel", {})
    events = await client.events()
    assert [event["type"] for event in events] == ["membership.updated"] * 3
    assert [event["data"]["previous"]["status"] for event in events] == ["active", "paused", "active"]
    assert events[-1]["data"]["object"] == await client.get_ok(f"/memberships/{card['id']}")
    assert [event["resource"]["version"] for event in events] == [2, 3, 4]


async def test_promotion_uses_the_memberships_current_status(client: StudioClient) -> None:
    """A member whose pause is over is promoted; one whose membership has ended is skipped."""
    class_, people = a_class(credit_cost=1), [a_member() for _ in range(3)]
    cards = [a_membership(person["id"]) for person in people]
    await client.import_all(class_, *people, *cards)
    bookings = await client.seated(class_, people)
    await client.import_all(
        cards[1] | {"cancellation": ending(seconds=-1)},
        cards[2] | {"status": "paused", "pause": pause(seconds=-1)},
    )
    await client.cancel(bookings[0]["id"])
    assert await client.statuses(*bookings[1:]) == ["cancelled", "confirmed"]
    again = await client.cancel(bookings[1]["id"])
    assert again.details["receipt"]["late_fee_status"] == "none", "a skipped member is not charged"


async def test_only_a_paused_membership_is_resumed(client: StudioClient) -> None:
    """Paying an overdue amount or starting a membership does not resume it."""
    for status in ("pending", "active", "past_due", "cancelled", "expired"):
        member = a_member()
        card = a_membership(member["id"], status=status)
        await client.import_all(member, card)
        reply = await client.staff.call("POST", f"/staff/memberships/{card['id']}/resume")
        assert (reply.status, reply.code) == (409, "invalid_state_transition"), status
        assert "active" not in reply.details["allowed"]


async def test_a_membership_without_an_end_is_not_cancelled_at_its_end(client: StudioClient) -> None:
    """422 naming the field, and nothing is changed."""
    member = a_member()
    card = a_membership(member["id"])
    await client.import_all(member, card)
    reply = await client.staff.call(
        "POST", f"/staff/memberships/{card['id']}/cancel", {"at_period_end": True}
    )
    assert (reply.status, reply.json["detail"][0]["loc"]) == (422, ["body", "at_period_end"])
    assert (await client.get_ok(f"/memberships/{card['id']}"))["cancellation"] is None
