"""Erasure removes a person's data from the event log and the delivery log. Counts and sequences stay."""

import asyncio
import json

from aiohttp import web

from shared.events.bus import Message
from shared.events.event import EventResource
from shared.events.kinds import BookingCreated, LeadCreated, MemberCreated
from shared.events.outbox import add_events
from shared.events.outbox_erasure import anonymize_outbox
from shared.wire import new_id
from tests.harness.receiver import Received, Receiver
from tests.services.webhooks.studio_client import StudioClient, change_applied, statuses


async def test_a_person_is_erased_from_events_and_from_responses(
    client: StudioClient, receiver: Receiver
) -> None:
    """Events of the member and the lead, and responses that repeat them. Other people's stay unchanged."""

    async def echo(got: Received) -> web.StreamResponse:
        return web.Response(body=got.body)

    receiver.answer = echo
    endpoint = await client.endpoint(receiver.url)
    ada, bob, lead = new_id(), new_id(), new_id()
    person = {"name": "Ada Love", "first_name": "Ada", "last_name": "Love", "role": "member"}
    events = [
        client.event(
            MemberCreated,
            resource=EventResource("member", ada, 1),
            data={"id": ada, "object": "member", "email": "ada@love.example", **person},
        ),
        client.event(
            LeadCreated,
            resource=EventResource("lead", lead, 1),
            data={
                "id": lead,
                "object": "lead",
                "email": "ada@love.example",
                "first_name": "Ada",
                "source": "her aunt Ada",
                "metadata": {"pet": "Byron"},
            },
        ),
        client.event(
            MemberCreated,
            resource=EventResource("member", bob, 1),
            data={"id": bob, "object": "member", "email": "bob@stone.example", "name": "Bob Stone"},
        ),
        client.event(BookingCreated, data={"id": new_id(), "object": "booking", "member_id": ada}),
    ]
    for event in events:
        await client.publish(event)
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 4)
    body = {"studio_id": client.studio_id, "member_id": ada, "emails": ["Ada@Love.example"]}
    reply = await client.call("POST", "/internal/erase", body, caller=client.operator)
    assert reply.status == 200, reply.body
    assert reply.json()["events"] == 3
    everything = (await client.call("GET", "/events")).body + json.dumps(
        await client.deliveries(endpoint["id"])
    ).encode()
    for word in (b"Ada", b"Love", b"ada@love", b"Byron"):
        assert word not in everything, word
    assert b"Bob Stone" in everything
    shown = (await client.call("GET", "/events")).json()["data"]
    assert [e["sequence"] for e in shown] == [1, 2, 3, 4]
    assert shown[0]["data"]["object"]["id"] == ada
    assert shown[3]["data"]["object"]["member_id"] == ada, "the booking stays countable"
    again = await client.call("POST", "/internal/erase", body, caller=client.operator)
    assert again.status == 200


async def test_nothing_of_an_erased_person_is_sent_or_stored_afterwards(
    client: StudioClient, receiver: Receiver
) -> None:
    """Prefetched deliveries are sent erased. The responses to attempts in flight are not stored."""
    opened = asyncio.Event()

    async def echo(got: Received) -> web.StreamResponse:
        await opened.wait()
        return web.Response(body=got.body)

    receiver.answer = echo
    endpoint = await client.endpoint(receiver.url)
    await client.sql("UPDATE lanes SET leased_until = now() + interval '50 s'")
    ada = new_id()
    data = {"id": ada, "object": "member", "email": "ada@love.example", "name": "Ada Love"}
    for version in range(1, 21):
        resource = EventResource("member", ada, version)
        await client.publish(client.event(MemberCreated, resource=resource, data=data))
    await client.sql("UPDATE lanes SET leased_until = NULL")
    await receiver.until_count(2)
    body = {"studio_id": client.studio_id, "member_id": ada, "emails": ["ada@love.example"]}
    async with change_applied(client):
        assert (await client.call("POST", "/internal/erase", body, caller=client.operator)).status == 200
    opened.set()
    found = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 20)
    assert [b"Ada" in got.body for got in receiver.received] == [True] * 2 + [False] * 18
    assert b"Ada" not in json.dumps(found).encode()
    assert all(d["attempts"][0]["response_status"] == 200 for d in found)


async def test_a_copy_that_was_on_its_way_during_an_erasure_is_replaced_in_the_log(
    client: StudioClient,
) -> None:
    """The row is rewritten and sent again; the log has each event once, and without the person."""
    member_id = new_id()
    data = {"id": member_id, "object": "member", "email": "ann@example.com", "first_name": "Ann"}
    event = client.event(BookingCreated, data={"id": new_id(), "member": data})
    async with client.context.db.transaction() as conn:
        await add_events(conn, [event])
        # Sent, and then erased before the log has it.
        await conn.execute("UPDATE outbox SET sent_at = now()")
        assert await anonymize_outbox(conn, client.studio_id, {member_id}, {"ann@example.com"}) == 1
        row = await conn.fetchrow("DELETE FROM outbox RETURNING envelope, version, sent_at")
    assert row is not None and row["sent_at"] is None and row["version"] == 1
    await client.publish(event)
    [before] = await client.sql("SELECT body FROM events")
    assert b"ann@example.com" in before["body"], "control: the first copy came after the erasure"
    await client.bus.publish(
        Message(event.id, event.type, row["envelope"], source="bookings", reference="1.1")
    )
    [after] = await client.sql("SELECT body, sequence FROM events")
    assert b"ann@example.com" not in after["body"] and b"Ann" not in after["body"]
    assert after["sequence"] == 1 and member_id.encode() in after["body"]
