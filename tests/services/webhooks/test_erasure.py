"""Erasure removes a person's data from the event log and the delivery log. Counts and sequences stay."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from msgspec import structs

from services.webhooks.actions import erase_person as erasing
from services.webhooks.actions.log_events import log_events
from services.webhooks.actions.prune import prune_step
from shared.events.event import Event, EventResource, Kind
from shared.events.kinds import BookingCreated, LeadCreated, MemberCreated, MembershipUpdated
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.harness.receiver import Received, Receiver
from tests.services.webhooks.studio_client import StudioClient, message_of, statuses

WORDS = (b"Ada", b"Love", b"ada@love", b"Byron", b"broken leg")


def mentions(text: bytes | str) -> bool:
    return any(word in (text.encode() if isinstance(text, str) else text) for word in WORDS)


def event_about(client: StudioClient, kind: Kind, id_: str, version: int = 1, **data: Any) -> Event:
    resource = EventResource(kind.resource, id_, version)
    return client.event(kind, resource=resource, data={"id": id_, "object": kind.resource} | data)


def ada_event(client: StudioClient, member_id: str, version: int = 1) -> Event:
    ada = {"email": "ada@love.example", "name": "Ada Love"}
    return event_about(client, MemberCreated, member_id, version, **ada)


async def erase(client: StudioClient, *member_ids: str, leads: tuple[str, ...] = ()) -> dict[str, Any]:
    body = {"studio_id": client.studio_id, "member_ids": member_ids, "lead_ids": leads}
    reply = await client.call("POST", "/internal/erase", body, caller=client.operator)
    assert reply.status == 200, reply.body
    counts: dict[str, Any] = reply.json()
    return counts


async def test_a_person_is_erased_from_events_and_from_responses(
    client: StudioClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of the member and the lead, and responses that repeat them. Other people's stay unchanged.

    Events that wait to be forwarded, too: nobody consumes the forms service's queue here.
    """
    monkeypatch.setattr(erasing, "WAIT_SECONDS", 0.0)

    async def echo(got: Received) -> web.StreamResponse:
        return web.Response(body=got.body)

    receiver.response = echo
    endpoint = await client.endpoint(receiver.url)
    ada, bob, lead, card = new_id(), new_id(), new_id(), new_id()
    shown: dict[str, Any] = {"email": "ada@love.example", "first_name": "Ada", "metadata": {"pet": "Byron"}}
    pause = {"reason": "a broken leg", "resumes_at": None}
    paused = event_about(client, MembershipUpdated, card, 2, member_id=ada, pause=None)
    events = [
        ada_event(client, ada),
        event_about(client, LeadCreated, lead, **shown),
        event_about(client, MemberCreated, bob, email="bob@stone.example", name="Bob Stone"),
        client.event(BookingCreated, data={"id": new_id(), "object": "booking", "member_id": ada}),
        structs.replace(paused, previous={"pause": pause}),
    ]
    for event in events:
        await client.publish(event)
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 5)
    retried, key = (await client.deliveries(endpoint["id"]))[0]["id"], new_id()
    retry = f"/webhook-deliveries/{retried}/retry"
    assert mentions((await client.call("POST", retry, key=key)).body)
    waiting = "SELECT envelope FROM outbox"
    assert any(mentions(row["envelope"]) for row in await client.sql(waiting)), "control"
    assert await erase(client, ada, leads=(lead,)) == {"events": 4, "deliveries": 4}
    assert not any(mentions(row["envelope"]) for row in await client.sql(waiting))
    assert not mentions((await client.call("POST", retry, key=key)).body), "the stored response"
    everything = (await client.call("GET", "/events")).body + json.dumps(
        await client.deliveries(endpoint["id"])
    ).encode()
    assert not mentions(everything)
    assert b"Bob Stone" in everything
    shown_now = (await client.call("GET", "/events")).json()["data"]
    assert [e["sequence"] for e in shown_now] == [1, 2, 3, 4, 5]
    assert shown_now[0]["data"] == {"object": {"id": ada, "object": "member"}}
    assert shown_now[3]["data"]["object"]["member_id"] == ada, "the booking stays countable"
    assert (await erase(client, ada, leads=(lead,)))["events"] == 0, "nothing is searched twice"


async def test_a_copy_that_comes_after_the_erasure_is_logged_delivered_and_kept_without_the_person(
    client: StudioClient, receiver: Receiver
) -> None:
    """From an outbox, a queue or the parked messages, however late. It is not forwarded to other services."""
    endpoint = await client.endpoint(receiver.url)
    ada = new_id()
    event = ada_event(client, ada)
    await erase(client, ada)
    copy = message_of(event)
    await log_events(client.context, [copy, copy])
    await log_events(client.context, [copy])
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"])
    [row] = await client.sql("SELECT body, sequence FROM events")
    assert row["sequence"] == 1 and ada.encode() in row["body"]
    assert not mentions(row["body"]) and not any(mentions(got.body) for got in receiver.received)
    assert await client.sql("SELECT 1 FROM outbox") == [], "there is no lead to convert"


async def test_the_log_remembers_the_erased_for_as_long_as_it_takes_events_from_before(
    client: StudioClient,
) -> None:
    """After 37 days an event from before the erasure is too old to be logged. The row holds ids only."""
    old, young = new_id(), new_id()
    await erase(client, old, young)
    aged = "UPDATE erased_people SET erased_at = now() - $2::int * interval '1 day' WHERE person_id = $1"
    await client.sql(aged, old, 45)
    await client.sql(aged, young, 38)
    await prune_step(client.context)
    assert [row["person_id"] for row in await client.sql("SELECT person_id FROM erased_people")] == [young]


async def test_an_event_that_is_being_logged_is_seen_by_the_erasure_or_sees_it(client: StudioClient) -> None:
    """The log's transaction is open when the erasure begins: the erasure waits for it."""
    ada = new_id()
    async with client.context.db.transaction() as conn:
        await conn.execute("INSERT INTO event_counters (studio_id) VALUES ($1)", client.studio_id)
        running = asyncio.create_task(erase(client, ada))
        await eventually(lambda: client.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
    await running
    await client.publish(ada_event(client, ada))
    assert not mentions(await client.value("SELECT body FROM events"))


async def test_a_search_that_takes_long_goes_on_where_it_stopped(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call does a bounded part of it and says 503 until it is done. The log goes on meanwhile."""
    ada = new_id()
    for version in range(1, 8):
        await client.publish(ada_event(client, ada, version))
    body = {"studio_id": client.studio_id, "member_ids": [ada]}
    monkeypatch.setattr(erasing, "STRETCH", 2)
    monkeypatch.setattr(erasing, "SEARCH_SECONDS", 0.0)
    seen = []
    while True:
        reply = await client.call("POST", "/internal/erase", body, caller=client.operator)
        rows = await client.sql("SELECT body FROM events")
        seen.append((reply.status, sum(mentions(row["body"]) for row in rows)))
        if reply.status == 200:
            break
    lefts = [left for _, left in seen]
    assert seen[-1] == (200, 0) and lefts == sorted(lefts, reverse=True)
    assert {status for status, _ in seen[:-1]} <= {503}
