"""Events that cannot be handled are parked in tables of the log. Operators list them and send them back."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from services.webhooks.actions import operator_repairs as requeueing
from services.webhooks.actions.log_events import log_events
from services.webhooks.actions.prune import prune_step
from services.webhooks.store import parked
from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Message, Poison, Queue
from shared.events.bus.memory import MemoryBus
from shared.events.envelope import render
from shared.events.event import Event
from shared.events.kinds import MemberCreated
from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.harness.send_events import send_events
from tests.services.webhooks.studio_client import StudioClient, message_of, open_studio_client
from tests.services.webhooks.test_erasure import event_about

PARKED = "SELECT event_id FROM parked_events WHERE queue = $1"


class Forms:
    """Refuses every new member until it is mended."""

    def __init__(self) -> None:
        self.broken = True
        self.handled: list[str] = []

    async def handle(self, messages: Sequence[Message]) -> None:
        if self.broken:
            raise Poison("no such \0form")
        self.handled += [message.id for message in messages]


@pytest.fixture
def forms() -> Forms:
    return Forms()


@pytest.fixture
async def client(database_url: str, forms: Forms) -> AsyncIterator[StudioClient]:
    bus = MemoryBus()

    async def ready() -> None:
        return None

    await bus.subscribe(NEW_MEMBERS, forms.handle, ready=ready)
    async with open_studio_client(database_url, bus=bus) as opened:
        yield opened


def member_event(client: StudioClient, member_id: str) -> Event:
    return event_about(client, MemberCreated, member_id, email="ada@love.example")


def unknown_kind(event: Event) -> Message:
    """As a later version would send it."""
    body = render(event).replace(b"member.created", b"member.promoted")
    return Message(event.id, "member.promoted", body)


async def listed(client: StudioClient, queue: Queue) -> list[dict[str, Any]]:
    reply = await client.call("GET", f"/staff/queues/{queue.name}/parked", caller=client.operator)
    data: list[dict[str, Any]] = reply.json()["data"]
    return data


async def counted(client: StudioClient, queue: Queue) -> int:
    reply = await client.call("GET", "/staff/queues", caller=client.operator)
    return int({one["name"]: one["parked"] for one in reply.json()["data"]}[queue.name])


async def requeue(client: StudioClient, queue: Queue, ids: list[str] | None = None) -> int:
    path = f"/staff/queues/{queue.name}/parked/requeue"
    reply = await client.call("POST", path, {"ids": ids}, caller=client.operator)
    assert reply.status == 200, reply.body
    return int(reply.json()["requeued"])


async def logged(client: StudioClient) -> list[str]:
    return [row["id"] for row in await client.sql("SELECT id FROM events ORDER BY sequence")]


async def refused_member(client: StudioClient) -> Event:
    """Logged, forwarded to forms, refused there and parked by the log."""
    event = member_event(client, new_id())
    await client.publish(event)
    assert await logged(client) == [event.id]
    await eventually(lambda: client.sql(PARKED, NEW_MEMBERS.name))
    return event


async def test_an_event_that_comes_again_and_again_is_parked_once(client: StudioClient) -> None:
    """Each copy is answered as stored, so that the sender deletes its row. Others beside it are logged."""
    message, good = unknown_kind(member_event(client, new_id())), client.event()
    unreadable = Message("bad", "booking.created", b'{"not": "an event"}')
    batch = [unreadable, message, message_of(good), message]
    for _ in range(3):
        reply = await send_events(client.bus, batch)
        assert [one.event_id for one in reply.stored] == [one.id for one in batch] and reply.refused == []
    assert await logged(client) == [good.id]
    assert await counted(client, EVENT_LOG) == 2
    shown = {one["id"]: one for one in await listed(client, EVENT_LOG)}
    assert shown.keys() == {"bad", message.id}
    assert shown[message.id]["topic"] == "member.promoted"
    assert "unknown kind 'member.promoted'" in shown[message.id]["reason"]
    assert shown[message.id]["body"] == message.body.decode()
    assert (await client.call("GET", "/staff/queues")).status == 404, "operators only"


async def test_requeued_events_of_the_log_are_logged_once_the_cause_is_mended(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that still fails stays parked, whatever it fails with, and does not hold the others back."""
    events = [member_event(client, new_id()) for _ in range(3)]
    await send_events(client.bus, [unknown_kind(event) for event in events])
    assert await requeue(client, EVENT_LOG) == 0, "nothing is mended yet"
    assert await counted(client, EVENT_LOG) == 3

    async def mended(service: Any, messages: Sequence[Message]) -> None:
        [event] = [event for event in events if event.id == messages[0].id]
        if event is events[0]:
            raise KeyError("still not handled")
        await log_events(service, [message_of(event)])

    monkeypatch.setattr(requeueing, "log_events", mended)
    assert await requeue(client, EVENT_LOG, [events[1].id]) == 1
    assert await logged(client) == [events[1].id]
    assert await requeue(client, EVENT_LOG) == 1
    assert await logged(client) == [events[1].id, events[2].id]
    assert [one["id"] for one in await listed(client, EVENT_LOG)] == [events[0].id]


async def test_an_event_that_forms_refuses_is_parked_by_the_log_until_forms_takes_it(
    client: StudioClient, forms: Forms
) -> None:
    """With the reason that forms gave, whatever it quotes. Requeued, it is parked again, or it is handled."""
    event = await refused_member(client)
    [shown] = await listed(client, NEW_MEMBERS)
    assert (shown["id"], shown["topic"], shown["reason"]) == (event.id, "member.created", "no such ?form")
    assert await counted(client, NEW_MEMBERS) == 1 and await counted(client, EVENT_LOG) == 0
    assert await client.sql("SELECT 1 FROM outbox") == []
    assert await requeue(client, NEW_MEMBERS) == 1
    await eventually(lambda: client.sql(PARKED, NEW_MEMBERS.name))
    forms.broken = False
    assert await requeue(client, NEW_MEMBERS, [new_id()]) == 0
    assert await requeue(client, NEW_MEMBERS, [event.id]) == 1
    await eventually(lambda: client.sql("SELECT 1 FROM outbox HAVING count(*) = 0"))
    assert forms.handled == [event.id]
    assert await counted(client, NEW_MEMBERS) == 0
    assert await requeue(client, NEW_MEMBERS) == 0


async def test_an_event_that_is_not_parked_any_more_is_not_forwarded(
    client: StudioClient, forms: Forms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An erasure, or another operator, was faster than the one who has just listed it."""
    await refused_member(client)
    forms.broken = False
    list_all = parked.list_all

    async def list_and_forget(conn: Any, *args: Any, **options: Any) -> list[Any]:
        rows = await list_all(conn, *args, **options)
        await conn.execute("DELETE FROM parked_events")
        return rows

    monkeypatch.setattr(parked, "list_all", list_and_forget)
    assert await requeue(client, NEW_MEMBERS) == 0
    assert await client.sql("SELECT 1 FROM outbox") == [] and forms.handled == []


async def test_an_erasure_takes_the_persons_parked_events_with_it(client: StudioClient) -> None:
    """Of both queues, and also those that come later. Other people's stay."""
    ada, bob = new_id(), new_id()
    await send_events(client.bus, [unknown_kind(member_event(client, one)) for one in (ada, bob)], EVENT_LOG)
    await client.publish(member_event(client, ada))
    await eventually(lambda: client.sql(PARKED, NEW_MEMBERS.name))
    body = {"studio_id": client.studio_id, "member_ids": [ada], "lead_ids": []}
    assert (await client.call("POST", "/internal/erase", body, caller=client.operator)).status == 200
    await send_events(client.bus, [unknown_kind(member_event(client, ada))])
    [left] = await client.sql("SELECT body FROM parked_events")
    assert bob.encode() in left["body"] and ada.encode() not in left["body"]


async def test_parked_events_are_pruned_when_the_log_would_not_take_them_any_more(
    client: StudioClient,
) -> None:
    """They may hold personal data, which nobody keeps for longer than the log."""
    old, young = (unknown_kind(member_event(client, new_id())) for _ in range(2))
    await send_events(client.bus, [old, young])
    await client.sql(
        "UPDATE parked_events SET parked_at = now() - interval '31 days' WHERE event_id = $1", old.id
    )
    while await prune_step(client.context):
        pass
    assert [one["id"] for one in await listed(client, EVENT_LOG)] == [young.id]
