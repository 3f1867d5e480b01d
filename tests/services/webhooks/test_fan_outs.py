"""Events that more endpoints want than one transaction makes deliveries for."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest

from services.webhooks.actions import log_events as logging
from services.webhooks.actions.log_events import log_events
from services.webhooks.actions.prune import prune_events
from services.webhooks.actions.recover import recovery_step
from services.webhooks.context import Webhooks
from shared.events.bus import Message
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver
from tests.harness.send_events import send_events
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, message_of
from tests.services.webhooks.test_recovery import LONG_AGO, done

HOOK = "http://127.0.0.1:9/"
STRETCH = 3
ENDPOINTS = 8


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "STRETCH", STRETCH)


class _Cut(Exception):
    pass


async def cut_after_the_first_stretch(client: StudioClient) -> tuple[list[str], Message]:
    """As by an end of the process: the event is logged, and the bus gets no reply. Endpoints and message."""
    ids, message = await endpoints(client), message_of(client.event())

    async def cut(*_: object) -> None:
        raise _Cut

    with pytest.MonkeyPatch.context() as patched, suppress(_Cut):
        patched.setattr(logging, "_finish_fan_out", cut)
        await log_events(client.context, [message])
    return ids, message


async def endpoints(client: StudioClient, count: int = ENDPOINTS) -> list[str]:
    return [(await client.endpoint(HOOK))["id"] for _ in range(count)]


async def received(client: StudioClient, messages: Sequence[Message]) -> dict[str, list[int]]:
    """The events of each endpoint as places in `messages`, in the order of its sequence, which has no gap."""
    places = {row["id"]: row["sequence"] - 1 for row in await client.sql("SELECT id, sequence FROM events")}
    assert sorted(places.values()) == list(range(len(messages)))
    found: dict[str, list[int]] = {}
    for row in await client.sql("SELECT * FROM deliveries ORDER BY endpoint_id, sequence"):
        mine = found.setdefault(row["endpoint_id"], [])
        mine.append(places[row["event_id"]])
        assert row["sequence"] == len(mine)
    assert await client.sql("SELECT FROM fan_outs") == []
    return found


@pytest.mark.parametrize("count", [2, ENDPOINTS], ids=["one event in a transaction", "a part of one"])
async def test_each_endpoint_gets_every_event_once_and_in_order(client: StudioClient, count: int) -> None:
    """In transactions of three deliveries, which have room for both of one event if there are two."""
    ids = await endpoints(client, count)
    await hold_lanes(client)  # a delivery that is attempted belongs to another transaction
    messages = [message_of(client.event()) for _ in range(5)]
    await log_events(client.context, messages)
    assert await received(client, messages) == {id_: [0, 1, 2, 3, 4] for id_ in ids}
    stretches = await client.sql("SELECT xmin::text, count(*) AS made FROM deliveries GROUP BY 1")
    assert all(row["made"] <= STRETCH for row in stretches)


async def test_the_first_ones_are_sent_while_others_are_still_to_be_made(
    client: StudioClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, go_on = logging._finish_fan_out, asyncio.Event()

    async def finish_later(service: Webhooks, studio_id: str) -> None:
        await go_on.wait()
        await finish(service, studio_id)

    monkeypatch.setattr(logging, "_finish_fan_out", finish_later)
    for _ in range(ENDPOINTS):
        await client.endpoint(receiver.url)
    logging_all = asyncio.create_task(log_events(client.context, [message_of(client.event())]))
    await receiver.until_count(STRETCH)
    assert not logging_all.done(), "the bus has its reply only after the last"
    go_on.set()
    await logging_all
    await receiver.until_count(ENDPOINTS)


async def test_it_is_finished_before_the_next_event(client: StudioClient) -> None:
    ids, message = await cut_after_the_first_stretch(client)
    next_message = message_of(client.event())
    await log_events(client.context, [next_message])
    assert await received(client, [message, next_message]) == {id_: [0, 1] for id_ in ids}


async def test_those_that_log_the_same_share_the_work(client: StudioClient) -> None:
    """The bus delivers at least once, also within one batch. The log stores an event once, without a gap."""
    ids = await endpoints(client)
    message, next_message = (message_of(client.event()) for _ in range(2))
    sent = [send_events(client.bus, [message] * copies) for copies in (3, 1, 1)]
    await asyncio.gather(*sent, *(log_events(client.context, [message]) for _ in range(3)))
    await send_events(client.bus, [message] * 3)
    await log_events(client.context, [next_message])
    assert await received(client, [message, next_message]) == {id_: [0, 1] for id_ in ids}


async def test_a_fan_out_that_was_cut_is_finished_by_the_copy_of_its_event(client: StudioClient) -> None:
    """An endpoint that is made meanwhile gets nothing, and one that is disabled has it waiting."""
    ids, message = await cut_after_the_first_stretch(client)
    assert len(await client.sql("SELECT FROM deliveries")) == STRETCH
    await endpoints(client, 1)
    await client.sql("UPDATE endpoints SET status = 'disabled' WHERE id = ANY ($1::uuid[])", ids)
    await log_events(client.context, [message])
    assert await received(client, [message]) == {id_: [0] for id_ in ids}


async def test_a_recovery_waits_for_it(client: StudioClient) -> None:
    """It would make the delivery that the fan-out is about to make."""
    ids, message = await cut_after_the_first_stretch(client)
    for id_ in ids:
        reply = await client.call("POST", f"/webhook-endpoints/{id_}/recover", {"since": LONG_AGO})
        assert reply.status == 202, reply.body
    assert not await recovery_step(client.context)
    await log_events(client.context, [message])
    await eventually(lambda: done(client))
    assert await received(client, [message]) == {id_: [0] for id_ in ids}


async def test_it_ends_with_an_event_that_is_dropped(client: StudioClient) -> None:
    ids, _ = await cut_after_the_first_stretch(client)
    assert await prune_events(client.context, client.operator, 1) == 1
    await log_events(client.context, [message_of(client.event())])
    rows = await client.sql("SELECT endpoint_id FROM deliveries")
    assert sorted(row["endpoint_id"] for row in rows) == sorted(ids)
    assert await client.sql("SELECT FROM fan_outs") == []
