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
from tests.services.webhooks.studio_client import ALL_READS, Reply, StudioClient, open_studio_client, statuses

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


async def recovering(client: StudioClient, receiver: Receiver, missed: int) -> dict[str, Any]:
    """A recovery of an endpoint that was disabled while this many events came."""
    endpoint_id = (await client.endpoint(receiver.url))["id"]
    await set_status(client, endpoint_id, "disabled")
    await client.publish_some(missed)
    await set_status(client, endpoint_id, "enabled")
    return await start(client, endpoint_id)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few events are many batches."""
    monkeypatch.setattr(recover, "BATCH", 40)
    monkeypatch.setattr(recover, "MAX_OPEN", 50)


async def test_events_held_while_disabled_are_offered_on_request(
    client: StudioClient, receiver: Receiver
) -> None:
    """No deliveries are made while disabled; recovery makes them, once, with the next sequences."""
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(2)
    await receiver.until_count(2)
    await set_status(client, endpoint["id"], "disabled")
    held = await client.publish_some(3)
    assert len(await client.deliveries(endpoint["id"])) == 2
    refused = await client.call("POST", f"/webhook-endpoints/{endpoint['id']}/recover", {"since": LONG_AGO})
    assert refused.code == "endpoint_disabled"
    await set_status(client, endpoint["id"], "enabled")
    await start(client, endpoint["id"])
    await receiver.until_count(5)
    assert set(receiver.ids[2:]) == set(held)
    assert sorted(got.sequence for got in receiver.received) == [1, 2, 3, 4, 5]
    await eventually(lambda: done(client))
    await start(client, endpoint["id"])
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


async def test_only_subscribed_events_since_then_are_offered(
    client: StudioClient, receiver: Receiver
) -> None:
    """`since` and the endpoint's filters apply to a recovery too."""
    endpoint = await client.endpoint(receiver.url, event_types=["booking.created"])
    await set_status(client, endpoint["id"], "disabled")
    old = client.event(created_at=now() - timedelta(hours=2))
    young = client.event(created_at=now() - timedelta(minutes=1))
    await client.publish(old)
    await client.publish(young)
    await client.publish(client.event(MemberCreated))
    await set_status(client, endpoint["id"], "enabled")
    await start(client, endpoint["id"], (now() - timedelta(hours=1)).isoformat())
    await eventually(lambda: done(client))
    await receiver.until_count(1)
    assert receiver.ids == [young.id]
    assert len(await client.deliveries(endpoint["id"])) == 1


@pytest.mark.usefixtures("small_steps")
async def test_a_recovery_continues_after_a_restart_and_keeps_few_deliveries_open(
    database_url: str, receiver: Receiver
) -> None:
    """It is stored, advances in batches, and waits while many deliveries are open."""
    receiver.response = answering(500)
    async with open_studio_client(database_url, webhook_retry_schedule=(60.0,)) as client:
        await recovering(client, receiver, 130)

        async def waiting() -> bool:
            pending = await client.value("SELECT count(*) FROM deliveries WHERE status = 'pending'")
            return bool(pending >= recover.MAX_OPEN)

        await eventually(waiting)
        for _ in range(3):
            await recover.recovery_step(client.context)
        made = await client.value("SELECT count(*) FROM deliveries")
        assert made <= recover.MAX_OPEN + recover.BATCH, "it does not flood a failing endpoint"
        ids = (client.studio_id, client.client_id)
    receiver.response = answering(200)
    before = receiver.count
    async with open_studio_client(database_url) as client:
        client.studio_id, client.client_id = ids
        await client.sql("UPDATE lanes SET paused_until = NULL, due_at = now()")
        await client.sql("UPDATE deliveries SET next_attempt_at = now()")
        await receiver.until_count(before + 130)
        await eventually(lambda: done(client))
        assert {got.sequence for got in receiver.received} == set(range(1, 131))


@pytest.mark.usefixtures("small_steps")
async def test_two_replicas_offer_everything_once(client: StudioClient, receiver: Receiver) -> None:
    """Whoever advances the recovery first wins. The other's batch is rolled back."""
    await recovering(client, receiver, 45)
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


async def until(client: StudioClient, recovery: dict[str, Any], **facts: object) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        shown: dict[str, Any] = (await client.call("GET", place(recovery))).json()
        return shown if facts.items() <= shown.items() else None

    return await eventually(look)


@pytest.mark.usefixtures("small_steps")
async def test_it_shows_its_progress_and_when_it_is_done(database_url: str, receiver: Receiver) -> None:
    """`offered` grows while it runs. It waits while many deliveries are open and ends as `done`.

    The events are from before the endpoint.
    """
    receiver.response = answering(500)
    missed = recover.MAX_OPEN + 2 * recover.BATCH
    async with open_studio_client(database_url, webhook_retry_schedule=(60.0,)) as client:
        await client.publish_some(missed)
        recovery = await start(client, (await client.endpoint(receiver.url))["id"])
        assert (recovery["status"], recovery["offered"]) == ("running", 0)
        batches = -(-recover.MAX_OPEN // recover.BATCH)
        halfway = await until(client, recovery, status="running", offered=batches * recover.BATCH)
        assert halfway == recovery | {"offered": batches * recover.BATCH}, "nothing else of it changes"
        path = f"/webhook-endpoints/{recovery['endpoint_id']}/recover"
        again = await client.call("POST", path, {"since": LONG_AGO})
        assert (again.status, again.code) == (409, "recovery_in_progress")
        assert again.json()["error"]["details"] == {"recovery_id": recovery["id"]}, "who lost the answer"
        receiver.response = answering(200)

        async def done() -> dict[str, Any] | None:
            # Each time: a last refused attempt that ends only now pauses the lane again.
            await client.sql("UPDATE lanes SET paused_until = NULL, due_at = now()")
            shown: dict[str, Any] = (await client.call("GET", place(recovery))).json()
            return shown if shown["status"] == "done" else None

        assert await eventually(done) == recovery | {"status": "done", "offered": missed}


async def test_it_is_seen_by_its_client_and_operators_alone(client: StudioClient, receiver: Receiver) -> None:
    """Those of another client, studio or endpoint are 404, like an unknown one."""
    endpoint, other = [await client.endpoint(receiver.url) for _ in range(2)]
    recovery = await start(client, endpoint["id"])

    def refused(reply: Reply) -> bool:
        return (reply.status, reply.code) == (404, "not_found")

    assert refused(await client.call("GET", place(recovery), caller=client.caller(client_id=new_id())))
    assert refused(await client.call("GET", place(recovery), caller=client.caller(studio_id=new_id())))
    assert refused(await client.call("GET", place(recovery), caller=client.caller(location_ids=(new_id(),))))
    assert refused(await client.call("GET", place(recovery | {"endpoint_id": other["id"]})))
    assert refused(await client.call("GET", place(recovery | {"id": new_id()})))
    narrow = client.caller(scopes=ALL_READS - {"bookings:read"})
    assert (await client.call("GET", place(recovery), caller=narrow)).code == "insufficient_scope"
    seen = await client.call("GET", f"/staff{place(recovery)}", caller=client.operator)
    assert seen.json()["id"] == recovery["id"]
    assert refused(await client.call("GET", f"/staff{place(recovery)}")), "the operators' way is theirs alone"
