"""From an event on the bus to a signed POST at a partner's server, and what is done when that fails."""

import asyncio
import json
from datetime import UTC, datetime
from itertools import pairwise

from standardwebhooks import Webhook

from shared.events.kinds import MemberCreated
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.studio_client import StudioClient, lane_is_free, statuses


async def test_a_retry_sends_the_same_bytes_with_a_new_signature(
    client: StudioClient, receiver: Receiver
) -> None:
    """The body is rendered once. A retry differs only in timestamp and signature."""
    receiver.response = answering(500, 200)
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    first, second = await receiver.until_count(2)
    assert first.body == second.body
    assert first.event_id == second.event_id
    assert first.sequence == second.sequence
    assert second.headers["content-type"] == "application/json"
    assert " ".join(json.loads(second.body)) == (
        "id object type created_at api_version studio_id location_id sequence resource request_id data"
    )
    Webhook(endpoint["secret"]).verify(second.body, second.headers)
    assert second.body in (await client.call("GET", "/events")).body, "the bytes of the log"
    [delivery] = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"])
    assert delivery["attempt_count"] == 2
    assert [a["response_status"] for a in delivery["attempts"]] == [500, 200]
    assert delivery["attempts"][0]["error"] == "the endpoint responded with 500"
    assert delivery["attempts"][1]["response_body"] == ""


async def test_a_delivery_is_dead_after_the_whole_schedule_and_can_be_retried(
    client: StudioClient, receiver: Receiver, second_receiver: Receiver
) -> None:
    """The first attempt and one per step of the schedule. Then it is listed as dead until it is retried.

    A redirect is a failure and not followed: whatever it points at, nothing is sent there.
    """
    receiver.response = answering(400, 302, headers={"Location": second_receiver.url})
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    [dead] = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["dead"])
    assert dead["attempt_count"] == 4
    assert [one["response_status"] for one in dead["attempts"]] == [400, 302, 302, 302]
    assert second_receiver.count == 0
    assert dead["next_attempt_at"] is None
    assert [d["id"] for d in await client.deliveries(endpoint["id"], status="dead")] == [dead["id"]]
    receiver.response = answering(204)
    reply = await client.call("POST", f"/webhook-deliveries/{dead['id']}/retry")
    assert reply.status == 202
    assert reply.json()["status"] == "pending"
    [again] = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"])
    assert again["attempt_count"] == 5


async def test_retry_after_is_honoured(client: StudioClient, receiver: Receiver) -> None:
    """Retry-After delays the next attempt beyond the schedule."""
    receiver.response = answering(429, 200, headers={"Retry-After": "3600"})
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    [waiting] = await client.until_deliveries(endpoint["id"], lambda ds: ds[0]["attempt_count"] == 1)
    wait = datetime.fromisoformat(waiting["next_attempt_at"]) - datetime.now(UTC)
    assert 3500 < wait.total_seconds() <= 3600
    [other] = await client.publish_some(1)
    await eventually(lambda: lane_is_free(client))
    assert other not in receiver.ids, "what came later waits as well"


async def test_the_webhook_sequence_of_each_endpoint_has_no_gaps(
    client: StudioClient, receiver: Receiver, second_receiver: Receiver
) -> None:
    """Filtered or not, a receiver that counts finds every number once, and so does a reader of the log."""
    everything = await client.endpoint(receiver.url)
    members = await client.endpoint(second_receiver.url, event_types=["member.created"])
    for _ in range(5):
        await asyncio.gather(client.publish_some(3), client.publish_some(2, kind=MemberCreated))
    await receiver.until_count(25)
    await second_receiver.until_count(10)
    assert sorted(got.sequence for got in receiver.received) == list(range(1, 26))
    assert sorted(got.sequence for got in second_receiver.received) == list(range(1, 11))
    listed = (await client.call("GET", "/events")).json()["data"]
    assert [event["sequence"] for event in listed] == list(range(1, 26))
    shown = await client.deliveries(everything["id"])
    assert [d["sequence"] for d in shown] == list(range(1, 26))
    assert all(a["created_at"] < b["created_at"] for a, b in pairwise(shown)), "in the order of creation"
    assert len(await client.deliveries(members["id"])) == 10


async def test_a_test_event_reaches_its_endpoint_alone(
    client: StudioClient, receiver: Receiver, second_receiver: Receiver
) -> None:
    """It needs no subscription, is signed like any other, and no other client sees it in the event log."""
    endpoint = await client.endpoint(receiver.url, event_types=["member.created"])
    await client.endpoint(second_receiver.url)
    reply = await client.call("POST", f"/webhook-endpoints/{endpoint['id']}/test")
    assert reply.status == 202
    [got] = await receiver.until_count(1)
    assert Webhook(endpoint["secret"]).verify(got.body, got.headers)["type"] == "webhook.test"
    event_id = reply.json()["event_id"]
    stranger = client.caller(client_id="somebody-else")
    assert (await client.call("GET", f"/events/{event_id}")).status == 200
    assert (await client.call("GET", f"/events/{event_id}", caller=stranger)).status == 404
    assert (await client.call("GET", "/events", caller=stranger)).json()["data"] == []
    assert (await client.call("GET", "/events", caller=stranger, cursor=event_id)).code == "invalid_cursor"
    assert second_receiver.count == 0
