"""Limits that hold for every client: endpoints, live secrets, kept attempts, and what a cursor may name."""

import asyncio

from services.webhooks.actions.manage_endpoints import MAX_ENDPOINTS, MAX_LIVE_SECRETS
from services.webhooks.store.attempts import MAX_ATTEMPTS_KEPT
from shared.events.kinds import BookingCreated, LeadCreated
from shared.wire import new_id
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.studio_client import ALL_READS, StudioClient, statuses

HOOK = "https://partner.example/hook"


async def test_the_limit_of_endpoints_holds_when_many_are_created_at_once(client: StudioClient) -> None:
    """A count without a lock let 203 of 200 through."""
    await client.sql(
        """INSERT INTO endpoints (studio_id, id, client_id, url, scopes)
           SELECT $1, gen_random_uuid(), $2, $3, '{}' FROM generate_series(1, $4) RETURNING id""",
        client.studio_id,
        client.client_id,
        HOOK,
        MAX_ENDPOINTS - 3,
    )
    replies = await asyncio.gather(
        *(client.call("POST", "/webhook-endpoints", {"url": HOOK}) for _ in range(12))
    )
    assert sorted(reply.status for reply in replies) == [201] * 3 + [409] * 9
    assert {reply.code for reply in replies if reply.status == 409} == {"too_many_endpoints"}
    assert len(await client.sql("SELECT 1 FROM endpoints")) == MAX_ENDPOINTS
    other = client.caller(client_id=new_id())
    assert (await client.call("POST", "/webhook-endpoints", {"url": HOOK}, caller=other)).status == 201


async def test_an_endpoint_has_a_bounded_number_of_live_secrets(
    client: StudioClient, receiver: Receiver
) -> None:
    """However often it is rotated with an overlap, the newest few sign; the header stays short."""
    made = await client.endpoint(receiver.url)
    path = f"/webhook-endpoints/{made['id']}/rotate-secret"
    for _ in range(MAX_LIVE_SECRETS + 3):
        assert (await client.call("POST", path, {"overlap_seconds": 86_400})).status == 200
    await client.publish_some(1)
    [got] = await receiver.until_count(1)
    assert len(got.headers["webhook-signature"].split(" ")) == MAX_LIVE_SECRETS
    assert len(await client.sql("SELECT 1 FROM secrets")) == MAX_LIVE_SECRETS


async def test_a_delivery_keeps_its_newest_attempts(client: StudioClient, receiver: Receiver) -> None:
    """A delivery may be retried by hand for ever; its log does not grow with the retries."""
    receiver.response = answering(500)
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    [delivery] = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["dead"])
    await client.sql(
        """UPDATE deliveries SET attempt_count = 50, attempts = (
               SELECT jsonb_agg(jsonb_set(attempts -> 0, '{duration_ms}', to_jsonb(n)))
               FROM generate_series(1, 50) n) RETURNING id"""
    )
    assert (await client.call("POST", f"/webhook-deliveries/{delivery['id']}/retry")).status == 202
    [delivery] = await client.until_deliveries(
        endpoint["id"], lambda ds: statuses(ds) == ["dead"] and ds[0]["attempt_count"] > 50
    )
    kept = delivery["attempts"]
    new = delivery["attempt_count"] - 50
    assert len(kept) == MAX_ATTEMPTS_KEPT
    assert [attempt["duration_ms"] for attempt in kept[:-new]] == list(range(51 - len(kept) + new, 51))


async def test_a_cursor_must_name_an_event_that_the_key_may_see(
    client: StudioClient, receiver: Receiver
) -> None:
    """Otherwise the response would reveal that the event exists."""
    here, there = new_id(), new_id()
    lead, booking = client.event(LeadCreated), client.event(BookingCreated, location_id=there)
    seen = client.event(BookingCreated, location_id=here)
    for event in (lead, booking, seen):
        await client.publish(event)
    endpoint = await client.endpoint(receiver.url)
    test = (await client.call("POST", f"/webhook-endpoints/{endpoint['id']}/test")).json()
    for hidden, caller in (
        (lead.id, client.caller(scopes=ALL_READS - {"leads:read"})),
        (booking.id, client.caller(location_ids=(here,))),
        (test["event_id"], client.caller(client_id=new_id())),
    ):
        for cursor in (hidden, new_id()):
            refused = await client.call("GET", "/events", caller=caller, cursor=cursor)
            assert (refused.status, refused.code) == (400, "invalid_cursor")
        assert (await client.call("GET", "/events", caller=caller, cursor=seen.id)).status == 200
        assert (await client.call("GET", "/events", cursor=hidden)).status == 200, "control: who may see it"


async def test_the_endpoints_of_a_leaked_key_are_found_and_disabled(client: StudioClient) -> None:
    """Those that it created, and those whose URL it set, in its studio only."""
    leaked, other = new_id(), new_id()
    by_leaked, by_other = client.caller(key_id=leaked), client.caller(key_id=other)
    made = await client.endpoint(HOOK, caller=by_leaked)
    kept = await client.endpoint(HOOK, caller=by_other)
    moved = await client.endpoint(HOOK, caller=by_other)
    assert (made["key_id"], kept["key_id"]) == (leaked, other)
    path = f"/webhook-endpoints/{moved['id']}"
    assert (await client.call("PATCH", path, {"url": f"{HOOK}/2"}, caller=by_leaked)).status == 200
    renamed = f"/webhook-endpoints/{kept['id']}"
    assert (await client.call("PATCH", renamed, {"description": "x"}, caller=by_leaked)).status == 200
    body = {"studio_id": client.studio_id, "key_id": leaked}
    reply = await client.call("POST", "/internal/keys/revoked", body, caller=client.operator)
    assert (reply.status, reply.json()) == (200, {"count": 2})
    listed = (await client.call("GET", "/webhook-endpoints")).json()["data"]
    assert {e["id"]: e["disabled_reason"] for e in listed} == {
        made["id"]: "key_revoked",
        kept["id"]: None,
        moved["id"]: "key_revoked",
    }
    assert (await client.call("POST", "/internal/keys/revoked", body)).status == 404, "not for partners"
