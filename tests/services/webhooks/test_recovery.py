"""Recovery sends again what was missed since a given time: durable, and without a flood."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from services.webhooks.actions import recover
from services.webhooks.store import recoveries
from shared.events.kinds import MemberCreated
from shared.wire import new_id, now
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.studio_client import StudioClient, open_studio_client, statuses

LONG_AGO = "2020-01-01T00:00:00Z"


async def set_status(client: StudioClient, endpoint_id: str, status: str) -> None:
    reply = await client.call("PATCH", f"/webhook-endpoints/{endpoint_id}", {"status": status})
    assert reply.status == 200, reply.body


async def start(client: StudioClient, endpoint_id: str, since: str = LONG_AGO) -> dict[str, Any]:
    reply = await client.call("POST", f"/webhook-endpoints/{endpoint_id}/recover", {"since": since})
    assert reply.status == 202, reply.body
    recovery: dict[str, Any] = reply.json()
    assert recovery["object"] == "webhook_recovery"
    return recovery


async def done(client: StudioClient) -> bool:
    return not await client.sql("SELECT 1 FROM recoveries WHERE status = 'running'")


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few events are many batches."""
    monkeypatch.setattr(recover, "BATCH", 40)
    monkeypatch.setattr(recover, "MAX_OPEN", 50)


async def test_events_held_while_disabled_are_offered_on_request(
    client: StudioClient, receiver: Receiver
) -> None:
    """No deliveries are made while disabled; recovery makes them, once, with the next sequences.

    Of events since the given time that the endpoint is subscribed to.
    """
    endpoint = await client.endpoint(receiver.url, event_types=["booking.created"])
    await client.publish_some(2)
    await receiver.until_count(2)
    await set_status(client, endpoint["id"], "disabled")
    await client.publish(client.event(created_at=now() - timedelta(hours=2)), client.event(MemberCreated))
    held = await client.publish_some(3)
    assert len(await client.deliveries(endpoint["id"])) == 2
    refused = await client.call("POST", f"/webhook-endpoints/{endpoint['id']}/recover", {"since": LONG_AGO})
    assert refused.code == "endpoint_disabled"
    await set_status(client, endpoint["id"], "enabled")
    since = (now() - timedelta(hours=1)).isoformat()
    await start(client, endpoint["id"], since)
    await receiver.until_count(5)
    assert set(receiver.ids[2:]) == set(held)
    assert sorted(got.sequence for got in receiver.received) == [1, 2, 3, 4, 5]
    await eventually(lambda: done(client))
    await start(client, endpoint["id"], since)
    await eventually(lambda: done(client))
    assert len(await client.deliveries(endpoint["id"])) == 5, "what was delivered is not offered again"


async def test_dead_deliveries_are_revived(client: StudioClient, receiver: Receiver) -> None:
    """The same delivery, id and sequence, with the full retry schedule."""
    receiver.response = answering(400)
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(3)
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["dead"] * 3)
    receiver.response = answering(200)
    await start(client, endpoint["id"])
    found = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 3)
    assert [d["attempt_count"] for d in found] == [5, 5, 5]


@pytest.mark.usefixtures("small_steps")
async def test_two_replicas_offer_everything_once(client: StudioClient, receiver: Receiver) -> None:
    """Whoever advances the recovery first wins. The other's batch is rolled back."""
    await client.publish_some(45)
    await start(client, (await client.endpoint(receiver.url))["id"])
    await asyncio.gather(*(recover.recovery_step(client.context) for _ in range(4)))
    await receiver.until_count(45)
    await eventually(lambda: done(client))
    [made] = await client.sql("SELECT count(*), count(DISTINCT event_id) FROM deliveries")
    assert tuple(made) == (45, 45)


async def test_recoveries_take_turns_and_disabled_endpoints_take_none(
    client: StudioClient, receiver: Receiver
) -> None:
    """Every recovery gets its turn, however many are waiting."""
    first, off, last = [(await client.endpoint(receiver.url))["id"] for _ in range(3)]
    await set_status(client, off, "disabled")
    await client.publish_some(1)
    async with client.context.db.transaction() as conn:
        # Not committed, so that the service's own loop leaves them to this test.
        for endpoint_id in (first, off, last):
            await recoveries.start(conn, client.caller(), new_id(), endpoint_id, now())
        turns = [await recoveries.take_turns(conn, 1) for _ in range(4)]
    assert [turn.endpoint_id for [turn] in turns] == [first, last, first, last]


def place(recovery: dict[str, Any]) -> str:
    return f"/webhook-endpoints/{recovery['endpoint_id']}/recoveries/{recovery['id']}"


@pytest.mark.usefixtures("small_steps")
async def test_a_recovery_keeps_few_deliveries_open_tells_how_far_it_is_and_outlives_a_restart(
    database_url: str, receiver: Receiver
) -> None:
    """`offered` grows while it runs. It waits while many deliveries are open and ends as `done`.

    The events are from before the endpoint.
    """
    receiver.response = answering(500)
    missed = recover.MAX_OPEN + 2 * recover.BATCH
    async with open_studio_client(database_url, webhook_retry_schedule=(60.0,)) as client:
        await client.publish_some(missed)
        recovery = await start(client, (await client.endpoint(receiver.url))["id"])
        assert (recovery["status"], recovery["offered"]) == ("running", 0)
        halfway = recovery | {"offered": -(-recover.MAX_OPEN // recover.BATCH) * recover.BATCH}

        async def waits() -> bool:
            return bool((await client.call("GET", place(recovery))).json() == halfway)

        await eventually(waits)
        for _ in range(3):
            await recover.recovery_step(client.context)
        assert await waits(), "it does not flood a failing endpoint, and nothing else of it changes"
        path = f"/webhook-endpoints/{recovery['endpoint_id']}/recover"
        again = await client.call("POST", path, {"since": LONG_AGO})
        assert (again.status, again.code) == (409, "recovery_in_progress")
        assert again.json()["error"]["details"] == {"recovery_id": recovery["id"]}, "who lost the answer"
        ids = (client.studio_id, client.client_id)
    receiver.response, before = answering(200), receiver.count
    async with open_studio_client(database_url) as client:
        client.studio_id, client.client_id = ids
        await client.sql("UPDATE lanes SET paused_until = NULL, due_at = now()")
        await client.sql("UPDATE deliveries SET next_attempt_at = now()")
        await receiver.until_count(before + missed)
        await eventually(lambda: done(client))
        shown = (await client.call("GET", place(recovery))).json()
        assert shown == recovery | {"status": "done", "offered": missed}
        assert {got.sequence for got in receiver.received} == set(range(1, missed + 1))


async def test_it_is_seen_under_its_own_endpoint_and_by_operators(
    client: StudioClient, receiver: Receiver
) -> None:
    """Under another one it is 404, like an unknown one."""
    endpoint, other = [await client.endpoint(receiver.url) for _ in range(2)]
    recovery = await start(client, endpoint["id"])
    for wrong in (recovery | {"endpoint_id": other["id"]}, recovery | {"id": new_id()}):
        refused = await client.call("GET", place(wrong))
        assert (refused.status, refused.code) == (404, "not_found")
    seen = await client.call("GET", f"/staff{place(recovery)}", caller=client.operator)
    assert seen.json()["id"] == recovery["id"]
    assert (await client.call("GET", f"/staff{place(recovery)}")).status == 404, "the operators' way"
