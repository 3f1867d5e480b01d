"""An erasure rewrites events on their way and publishes them again: no copy brings the person back."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from msgspec import structs

from services.webhooks.actions.log_events import log_events
from shared.events.bus import EVENT_LOG, Message, Poison, Queue
from shared.events.bus.memory import MemoryBus
from shared.events.bus.protocol import Handler
from shared.events.event import Event, EventResource
from shared.events.kinds import MemberCreated
from shared.events.outbox import add_events
from shared.events.outbox_erasure import anonymize_outbox
from shared.events.outbox_rows import Reference
from shared.wire import new_id
from tests.harness.receiver import Received, Receiver
from tests.services.webhooks.studio_client import (
    StudioClient,
    change_applied,
    hold_lanes,
    open_studio_client,
    statuses,
)

EMAIL = "ada@love.example"
WORDS = (b"Ada", b"Love", b"ada@love")


def person(client: StudioClient) -> Event:
    member_id = new_id()
    data = {"id": member_id, "object": "member", "email": EMAIL, "name": "Ada Love"}
    return client.event(MemberCreated, resource=EventResource("member", member_id, 1), data=data)


async def copies(client: StudioClient, event: Event) -> tuple[Message, Message]:
    """The event as its producer published it, and again after the erasure of its person."""
    async with client.context.db.transaction() as conn:
        await add_events(conn, [event])
        first = await conn.fetchrow("SELECT * FROM outbox WHERE event_id = $1", event.id)
        assert await anonymize_outbox(conn, client.studio_id, {event.resource.id}, {EMAIL}) == 1
        second = await conn.fetchrow("DELETE FROM outbox WHERE event_id = $1 RETURNING *", event.id)
    made = [
        Message(
            event.id,
            event.type,
            row["envelope"],
            bucket=row["bucket"],
            source="bookings",
            reference=Reference(row["id"], row["version"]).text(),
        )
        for row in (first, second)
        if row is not None
    ]
    assert [mentions(message.body) for message in made] == [True, False], "control: only the first has data"
    return made[0], made[1]


def mentions(body: bytes) -> bool:
    return any(word in body for word in WORDS)


async def logged(client: StudioClient) -> list[Any]:
    return await client.sql("SELECT id::text, sequence, body FROM events ORDER BY sequence")


async def forwarded(client: StudioClient) -> list[Any]:
    """What waits for the forms service. Nobody consumes its queue in these tests."""
    return await client.sql("SELECT envelope, version, parked_at FROM outbox ORDER BY id")


@pytest.mark.parametrize("first", [0, 1], ids=["original-first", "rewritten-first"])
async def test_of_two_copies_in_one_batch_the_rewritten_one_is_logged_delivered_and_forwarded(
    client: StudioClient, receiver: Receiver, first: int
) -> None:
    """The event log was away: both copies are waiting when it returns. The place is that of the first."""
    endpoint = await client.endpoint(receiver.url)
    event, other = person(client), person(client)
    both = await copies(client, event)
    [between, _] = await copies(client, other)
    await log_events(client.context, [both[first], between, both[1 - first]])
    rows = await logged(client)
    assert [(row["id"], row["sequence"]) for row in rows] == [(event.id, 1), (other.id, 2)]
    assert [mentions(row["body"]) for row in rows] == [False, True], "control: the other one is unchanged"
    assert [mentions(row["envelope"]) for row in await forwarded(client)] == [False, True]
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 2)
    sent = {got.event_id: mentions(got.body) for got in receiver.received}
    assert sent == {event.id: False, other.id: True}


async def test_the_original_that_arrives_after_the_rewritten_one_changes_nothing(
    client: StudioClient,
) -> None:
    """A redelivery, or a parked message that an operator requeues weeks later."""
    event = person(client)
    original, rewritten = await copies(client, event)
    await log_events(client.context, [rewritten])
    await log_events(client.context, [original])
    await log_events(client.context, [original, original])
    [row] = await logged(client)
    assert not mentions(row["body"]) and event.resource.id.encode() in row["body"]
    [forward] = await forwarded(client)
    assert not mentions(forward["envelope"])


async def test_a_replaced_event_is_sent_without_the_person_and_echoes_are_not_stored(
    client: StudioClient, receiver: Receiver
) -> None:
    """As for an erasure of logged events: prefetched bodies are loaded again, open responses dropped."""
    opened = asyncio.Event()

    async def echo(got: Received) -> web.StreamResponse:
        await opened.wait()
        return web.Response(body=got.body)

    receiver.answer = echo
    endpoint = await client.endpoint(receiver.url)
    pairs = [await copies(client, person(client)) for _ in range(20)]
    await hold_lanes(client)
    await log_events(client.context, [original for original, _ in pairs])
    await client.sql("UPDATE lanes SET token = NULL, leased_until = NULL")
    await receiver.until_count(2)
    async with change_applied(client):
        await log_events(client.context, [rewritten for _, rewritten in pairs])
    opened.set()
    found = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 20)
    assert [mentions(got.body) for got in receiver.received] == [True] * 2 + [False] * 18
    assert not mentions(json.dumps(found).encode())
    assert not any(mentions(row["body"]) for row in await logged(client))


async def test_a_replaced_event_is_forwarded_again_without_the_person(client: StudioClient) -> None:
    """Its copy for the forms service may be waiting, in flight or parked in our own outbox."""
    original, rewritten = await copies(client, person(client))
    await log_events(client.context, [original])
    [before] = await forwarded(client)
    assert mentions(before["envelope"]), "control"
    await client.sql("UPDATE outbox SET parked_at = now()")
    await log_events(client.context, [rewritten])
    [after] = await forwarded(client)
    assert not mentions(after["envelope"])
    assert (after["version"], after["parked_at"]) == (before["version"] + 1, None)
    await log_events(client.context, [rewritten])
    assert (await forwarded(client))[0]["version"] == after["version"], "a redelivery is no newer version"


async def test_an_erasure_covers_events_that_wait_to_be_forwarded(client: StudioClient) -> None:
    """Also after they were logged, and if they are parked."""
    event = person(client)
    await log_events(client.context, [(await copies(client, event))[0]])
    await client.sql("UPDATE outbox SET parked_at = now()")
    body = {"studio_id": client.studio_id, "member_id": event.resource.id, "emails": [EMAIL]}
    assert (await client.call("POST", "/internal/erase", body, caller=client.operator)).status == 200
    [row] = await forwarded(client)
    assert not mentions(row["envelope"]) and row["parked_at"] is None


class Refusing(MemoryBus):
    """Parks everything until `refuse` is set to False."""

    refuse = True

    async def subscribe(self, queue: Queue, handler: Handler, *, batch: int = 1) -> None:
        async def handle(messages: Sequence[Message]) -> None:
            if self.refuse:
                raise Poison("not now")
            await handler(messages)

        await super().subscribe(queue, handle, batch=batch)


@pytest.mark.parametrize("first", [0, 1], ids=["original-first", "rewritten-first"])
async def test_parked_copies_that_are_requeued_do_not_bring_the_person_back(
    database_url: str, first: int
) -> None:
    """`studioctl queues requeue` sends both back, in the order in which they were parked."""
    bus = Refusing((EVENT_LOG,))
    async with open_studio_client(database_url, bus=bus) as client:
        both = await copies(client, person(client))
        await bus.publish(both[first])
        await bus.publish(both[1 - first])
        assert (await bus.depth(EVENT_LOG)).parked == 2
        bus.refuse = False
        path = f"/staff/queues/{EVENT_LOG.name}/parked/requeue"
        assert (await client.call("POST", path, {}, caller=client.operator)).json() == {"requeued": 2}
        [row] = await logged(client)
        assert not mentions(row["body"])


async def test_copies_of_other_producers_without_a_reference_are_logged_once(client: StudioClient) -> None:
    """Control: without a version the first copy counts."""
    original, _ = await copies(client, person(client))
    plain = structs.replace(original, reference="")
    await log_events(client.context, [plain, plain])
    [row] = await logged(client)
    assert mentions(row["body"])
