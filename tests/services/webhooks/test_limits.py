"""Limits that hold for every client: endpoints, live secrets, kept attempts, and what a cursor may name."""

import asyncio

import pytest

from services.webhooks.actions.create_endpoint import MAX_ENDPOINTS
from services.webhooks.actions.rotate_secret import MAX_LIVE_SECRETS
from services.webhooks.store.attempts import MAX_ATTEMPTS_KEPT
from shared.events.kinds import BookingCreated, LeadCreated
from shared.wire import new_id
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.desk import ALL_READS, Desk, statuses

HOOK = "https://partner.example/hook"


async def test_the_limit_of_endpoints_holds_when_many_are_created_at_once(desk: Desk) -> None:
    """A count without a lock let 203 of 200 through."""
    await desk.sql(
        """INSERT INTO endpoints (studio_id, id, client_id, url, scopes)
           SELECT $1, gen_random_uuid(), $2, $3, '{}' FROM generate_series(1, $4) RETURNING id""",
        desk.studio_id,
        desk.client_id,
        HOOK,
        MAX_ENDPOINTS - 3,
    )
    replies = await asyncio.gather(
        *(desk.call("POST", "/webhook-endpoints", {"url": HOOK}) for _ in range(12))
    )
    assert sorted(reply.status for reply in replies) == [201] * 3 + [409] * 9
    assert {reply.code for reply in replies if reply.status == 409} == {"too_many_endpoints"}
    assert len(await desk.sql("SELECT 1 FROM endpoints")) == MAX_ENDPOINTS
    other = desk.caller(client_id=new_id())
    assert (await desk.call("POST", "/webhook-endpoints", {"url": HOOK}, caller=other)).status == 201


async def test_an_endpoint_has_a_bounded_number_of_live_secrets(desk: Desk, receiver: Receiver) -> None:
    """However often it is rotated with an overlap, the newest few sign; the header stays short."""
    made = await desk.endpoint(receiver.url)
    path = f"/webhook-endpoints/{made['id']}/rotate-secret"
    for _ in range(MAX_LIVE_SECRETS + 3):
        assert (await desk.call("POST", path, {"overlap_seconds": 86_400})).status == 200
    await desk.publish_some(1)
    [got] = await receiver.until_count(1)
    assert len(got.headers["webhook-signature"].split(" ")) == MAX_LIVE_SECRETS
    assert len(await desk.sql("SELECT 1 FROM secrets")) == MAX_LIVE_SECRETS


async def test_a_delivery_keeps_its_newest_attempts(desk: Desk, receiver: Receiver) -> None:
    """Manual retries may go on for ever; the log of a delivery does not grow with them."""
    receiver.answer = answering(500)
    endpoint = await desk.endpoint(receiver.url)
    await desk.publish_some(1)
    [delivery] = await desk.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["dead"])
    await desk.sql(
        """UPDATE deliveries SET attempt_count = 50, attempts = (
               SELECT jsonb_agg(jsonb_set(attempts -> 0, '{duration_ms}', to_jsonb(n)))
               FROM generate_series(1, 50) n) RETURNING id"""
    )
    assert (await desk.call("POST", f"/webhook-deliveries/{delivery['id']}/retry")).status == 202
    [delivery] = await desk.until_deliveries(
        endpoint["id"], lambda ds: statuses(ds) == ["dead"] and ds[0]["attempt_count"] > 50
    )
    kept = delivery["attempts"]
    new = delivery["attempt_count"] - 50
    assert len(kept) == MAX_ATTEMPTS_KEPT
    assert [attempt["duration_ms"] for attempt in kept[:-new]] == list(range(51 - len(kept) + new, 51))


@pytest.mark.parametrize("kind", ["scope", "location", "client"])
async def test_a_cursor_must_name_an_event_that_the_key_may_see(
    desk: Desk, receiver: Receiver, kind: str
) -> None:
    """Else the answer would tell that the event exists."""
    here, there = new_id(), new_id()
    lead, booking = desk.event(LeadCreated), desk.event(BookingCreated, location_id=there)
    seen = desk.event(BookingCreated, location_id=here)
    for event in (lead, booking, seen):
        await desk.publish(event)
    endpoint = await desk.endpoint(receiver.url)
    test = (await desk.call("POST", f"/webhook-endpoints/{endpoint['id']}/test")).json()
    hidden, caller = {
        "scope": (lead.id, desk.caller(scopes=ALL_READS - {"leads:read"})),
        "location": (booking.id, desk.caller(location_ids=(here,))),
        "client": (test["event_id"], desk.caller(client_id=new_id())),
    }[kind]
    refused = await desk.call("GET", "/events", caller=caller, cursor=hidden)
    unknown = await desk.call("GET", "/events", caller=caller, cursor=new_id())
    assert (refused.status, refused.code) == (unknown.status, unknown.code) == (400, "invalid_cursor")
    assert (await desk.call("GET", "/events", caller=caller, cursor=seen.id)).status == 200
    assert (await desk.call("GET", "/events", cursor=hidden)).status == 200, "the control: who may see it"


async def test_the_endpoints_of_a_leaked_key_are_found_and_disabled(desk: Desk) -> None:
    """Those that it created, and those whose URL it set, in its studio only."""
    leaked, other = new_id(), new_id()
    by_leaked, by_other = desk.caller(key_id=leaked), desk.caller(key_id=other)
    made = await desk.endpoint(HOOK, caller=by_leaked)
    kept = await desk.endpoint(HOOK, caller=by_other)
    moved = await desk.endpoint(HOOK, caller=by_other)
    assert (made["key_id"], kept["key_id"]) == (leaked, other)
    path = f"/webhook-endpoints/{moved['id']}"
    assert (await desk.call("PATCH", path, {"url": f"{HOOK}/2"}, caller=by_leaked)).status == 200
    renamed = f"/webhook-endpoints/{kept['id']}"
    assert (await desk.call("PATCH", renamed, {"description": "x"}, caller=by_leaked)).status == 200
    body = {"studio_id": desk.studio_id, "key_id": leaked}
    reply = await desk.call("POST", "/internal/keys/revoked", body, caller=desk.operator)
    assert (reply.status, reply.json()) == (200, {"count": 2})
    listed = (await desk.call("GET", "/webhook-endpoints")).json()["data"]
    assert {e["id"]: e["disabled_reason"] for e in listed} == {
        made["id"]: "key_revoked",
        kept["id"]: None,
        moved["id"]: "key_revoked",
    }
    assert (await desk.call("POST", "/internal/keys/revoked", body)).status == 404, "not for partners"
