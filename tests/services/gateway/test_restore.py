"""After a restore from a backup both sequences jump forward, so that no number is used twice."""

from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.receiver import Receiver
from tests.harness.system import System

# What a restore to just before the last event does to the log of one studio.
REWIND = """
WITH gone AS (DELETE FROM webhooks.deliveries WHERE studio_id = $1 AND sequence > $2),
     lost AS (DELETE FROM webhooks.events WHERE studio_id = $1 AND sequence > $2),
     back AS (UPDATE webhooks.lanes SET last_sequence = $2 WHERE studio_id = $1)
UPDATE webhooks.event_counters SET last_sequence = $2 WHERE studio_id = $1
"""


async def new_member(partner: Client) -> None:
    body = {"email": f"{new_id()}@example.com", "first_name": "A", "last_name": "B"}
    await partner.create("/members", body)


async def test_a_poller_that_had_read_everything_sees_what_comes_after_a_restore(
    system: System, partner: Client, receiver: Receiver
) -> None:
    """`after_sequence` from after the backup finds the next event; an endpoint's number jumps as far."""
    await partner.create("/webhook-endpoints", {"url": receiver.url})
    for count in (1, 2, 3):
        await new_member(partner)
        await receiver.until_count(count)
    async with connected(system.running.database_url("webhooks")) as conn:
        await conn.execute(REWIND, system.studio_id, 1)
    refused = await system.operator.post("/sequences/advance", {"by": 999_999})
    assert refused.status == 422, "the checks of a restored database would take that for lost events"
    response = await system.operator.post("/sequences/advance", {"by": 1_000_000})
    assert response.status == 200, response.body
    await new_member(partner)
    seen = await partner.until("/events", after_sequence=3)
    assert [event["sequence"] for event in seen["data"]] == [1_000_002]
    await receiver.until_count(4)
    assert receiver.received[-1].sequence == 1_000_002
