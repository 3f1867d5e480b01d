"""What partners see of imported members and memberships, through the gateway."""

import asyncio
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec

from tests.harness.http import Client
from tests.harness.system import System
from tests.services.bookings.samples import a_member, a_membership, a_product, soon


def builtins(*lines: Any) -> list[Any]:
    return [msgspec.to_builtins(line) for line in lines]


async def test_instants_of_a_pause_and_a_cancellation_come_back_in_utc(
    system: System, partner: Client
) -> None:
    """Whatever offset the import wrote; by id and in the list."""
    far = timezone(timedelta(hours=-7))
    at = datetime(2031, 5, 6, 20, 30, tzinfo=far)
    pause = {"paused_at": at, "resumes_at": at + timedelta(days=3), "reason": None}
    ending = {
        "requested_at": at,
        "effective_at": at + timedelta(days=9),
        "at_period_end": True,
        "reason": "x",
    }
    member = a_member()
    card = a_membership(member["id"], status="paused", pause=pause, cancellation=ending)
    await system.import_lines(builtins(a_product(id=card["product_id"]), member, card))
    shown = (await partner.get(f"/memberships/{card['id']}")).json()
    assert shown["pause"]["paused_at"] == "2031-05-07T03:30:00Z"
    assert shown["pause"]["resumes_at"] == "2031-05-10T03:30:00Z"
    assert shown["cancellation"]["requested_at"] == "2031-05-07T03:30:00Z"
    assert shown["cancellation"]["effective_at"] == "2031-05-16T03:30:00Z"
    assert (await partner.get(f"/members/{member['id']}/memberships")).json()["data"] == [shown]


async def test_members_are_member_user_and_lead_profiles(system: System, partner: Client) -> None:
    """The import refuses any other role by name, and nothing else is listed."""
    people = [a_member(role=role) for role in ("member", "user", "lead")]
    staff = [a_member(role=role) for role in ("staff", "owner", "")]
    raw = b"\n".join(json.dumps(line).encode() for line in builtins(*people, *staff))
    report = await system.try_import(raw)
    assert [line["line"] for line in report["rejected"]] == [4, 5, 6]
    assert all("role" in line["reason"] for line in report["rejected"])
    listed = (await partner.get("/members")).json()["data"]
    assert {row["id"]: row["role"] for row in listed} == {one["id"]: one["role"] for one in people}
    assert (await partner.get(f"/members/{staff[0]['id']}")).status == 404


async def test_memberships_follow_their_dates_by_themselves(system: System, partner: Client) -> None:
    """Pending begins at `starts_at`; without renewal an active one ends at `ends_at`, with it it waits."""
    member = a_member()
    moment = datetime.now(UTC) + timedelta(seconds=2)
    begins = a_membership(member["id"], status="pending", starts_at=moment)
    ends = a_membership(member["id"], ends_at=moment, auto_renew=False)
    renews = a_membership(member["id"], ends_at=moment)
    later = a_membership(member["id"], status="pending", starts_at=soon(days=1))
    cards = {"begins": begins, "ends": ends, "renews": renews, "later": later}
    products = [a_product(id=card["product_id"]) for card in cards.values()]
    await system.import_lines(builtins(*products, member, *cards.values()))

    async def statuses() -> dict[str, str]:
        found = {name: await partner.get(f"/memberships/{card['id']}") for name, card in cards.items()}
        return {name: reply.json()["status"] for name, reply in found.items()}

    before = {"begins": "pending", "ends": "active", "renews": "active", "later": "pending"}
    assert await statuses() == before or datetime.now(UTC) >= moment
    async with asyncio.timeout(20):
        while (now := await statuses()) != before | {"begins": "active", "ends": "expired"}:
            assert now["renews"] == "active" and now["later"] == "pending"
            await asyncio.sleep(0.1)
    shown = (await partner.get(f"/memberships/{begins['id']}")).json()
    assert shown["state_version"] == 2
