"""People who are erased while their events are still on their way."""

import asyncio
import json
from typing import Any

import pytest

from tests.harness.eventually import eventually
from tests.harness.receiver import receiving
from tests.harness.system import System

PEOPLE = 10


async def settled(system: System) -> list[dict[str, Any]] | None:
    """The queues, once nothing is waiting in an outbox."""
    status = (await system.operator.get("/status")).json()
    left = [one["outbox_waiting"] for one in _stats(status)]
    return [queue for one in _stats(status) for queue in one.get("queues", ())] if not any(left) else None


def _stats(value: Any) -> list[dict[str, Any]]:
    """The figures of the services that have an outbox, wherever the status shows them."""
    if isinstance(value, list):
        return [found for item in value for found in _stats(item)]
    if not isinstance(value, dict):
        return []
    return (
        [value] if "outbox_waiting" in value else [found for item in value.values() for found in _stats(item)]
    )


@pytest.mark.timeout(180)
async def test_nobody_who_is_erased_at_once_is_parked_or_sent_afterwards(system: System) -> None:
    """Lead and member with one address, erased right after creation: every event is logged and handled."""
    client = system.partner(await system.key())

    async def create_and_erase(number: int) -> str:
        email = f"at-once-{number}-{system.studio_id}@example.com"
        body = {"email": email, "first_name": "Adelheid", "last_name": "Quist"}
        assert (await client.post("/leads", {"email": email, "first_name": "Adelheid"})).status == 201
        member = (await client.post("/members", body)).json()
        erased = await system.operator.post(f"/members/{member['id']}/erase")
        assert erased.status == 200, erased.body
        answered[email] = len(receiver.received)
        return email

    async with receiving() as receiver:
        answered: dict[str, int] = {}
        assert (await client.post("/webhook-endpoints", {"url": receiver.url})).status == 201
        emails = await asyncio.gather(*(create_and_erase(number) for number in range(PEOPLE)))
        queues = await eventually(lambda: settled(system))
        assert [queue["parked"] for queue in queues] == [0] * len(queues), queues
        parked = await system.operator.get("/queues/forms.new-members/parked")
        assert parked.json()["data"] == []
        events = (await client.get("/events", limit=200)).body
        for email in emails:
            assert email.encode() not in events
            later = [got.body for got in receiver.received[answered[email] :]]
            assert not any(email.encode() in body for body in later), email
        assert b"Adelheid" not in events
        kinds = [event["type"] for event in json.loads(events)["data"]]
        assert [kinds.count(kind) for kind in ("member.created", "member.erased", "lead.erased")] == [
            PEOPLE
        ] * 3
