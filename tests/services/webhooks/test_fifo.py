"""`fifo` endpoints: one delivery at a time, in order, whether it is loaded alone or in a batch."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from services.webhooks.store import attempts
from shared.wire import now
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, answering
from tests.services.webhooks.studio_client import (
    StudioClient,
    change_applied,
    held,
    hold_lanes,
    lane_is_free,
    statuses,
)


async def backlog(client: StudioClient, receiver: Receiver, events: int) -> str:
    """The id of a `fifo` endpoint whose deliveries all wait. `send` lets them go."""
    endpoint = await client.endpoint(receiver.url, fifo=True)
    await hold_lanes(client)
    await client.publish_some(events)
    await client.until_deliveries(endpoint["id"], lambda found: len(found) == events)
    return str(endpoint["id"])


async def send(client: StudioClient) -> None:
    await client.sql("UPDATE lanes SET leased_until = NULL")


def sequences(receiver: Receiver) -> list[int]:
    return [got.sequence for got in receiver.received]


@pytest.mark.parametrize("in_batch", [False, True], ids=["one by one", "a backlog"])
async def test_strict_order_holds_even_when_events_fail_at_first(
    client: StudioClient, receiver: Receiver, in_batch: bool
) -> None:
    """A failing event blocks the others until it is delivered, also those that were loaded with it."""
    receiver.response = answering(200, 500, 500, 200, 200, 500, 200)
    if in_batch:
        await backlog(client, receiver, 6)
        await send(client)
    else:
        await client.endpoint(receiver.url, fifo=True)
        for _ in range(6):
            await client.publish_some(1)
    await receiver.until_count(9)
    assert sequences(receiver) == [1, 2, 2, 2, 3, 4, 4, 5, 6]


async def test_a_backlog_is_loaded_in_batches(
    client: StudioClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One query for many deliveries. One for each made an endpoint fall behind on a busy machine."""
    loaded: list[int] = []
    in_order = attempts.in_order

    async def counting(*args: Any) -> list[attempts.Due]:
        found = await in_order(*args)
        loaded.append(len(found))
        return found

    monkeypatch.setattr(attempts, "in_order", counting)
    await backlog(client, receiver, 50)
    await send(client)
    await receiver.until_count(50)
    assert sequences(receiver) == list(range(1, 51))
    assert max(loaded) >= 40


async def test_nothing_overtakes_a_retry_that_is_not_due(client: StudioClient, receiver: Receiver) -> None:
    """Neither a first attempt nor another retry that is due. It goes on when the oldest one is due."""
    endpoint = await backlog(client, receiver, 4)
    await client.sql("UPDATE deliveries SET step = 1, next_attempt_at = now() WHERE sequence = 3")
    await client.sql(
        "UPDATE deliveries SET step = 1, next_attempt_at = now() + interval '1 h' WHERE sequence = 1"
    )
    await send(client)
    waits = "SELECT 1 FROM lanes WHERE token IS NULL AND due_at < 'infinity'"
    await eventually(lambda: client.sql(waits))
    assert receiver.count == 0
    await client.sql("UPDATE deliveries SET next_attempt_at = now() WHERE sequence = 1")
    await client.sql("UPDATE lanes SET due_at = now()")
    await client.until_deliveries(endpoint, lambda found: statuses(found) == ["succeeded"] * 4)
    assert sequences(receiver) == [1, 2, 3, 4]


async def test_a_delivery_that_is_retried_goes_before_what_was_loaded(
    client: StudioClient, receiver: Receiver
) -> None:
    """In order of `sequence` also then: what waits has a higher one."""
    endpoint = await backlog(client, receiver, 1)
    await send(client)
    [first] = await client.until_deliveries(endpoint, lambda found: statuses(found) == ["succeeded"])
    answered = held(receiver)
    await eventually(lambda: lane_is_free(client))  # else its owner goes on with what comes
    await hold_lanes(client)
    await client.publish_some(9)
    await client.until_deliveries(endpoint, lambda found: len(found) == 10)
    await send(client)
    await receiver.until_count(2)
    async with change_applied(client):
        assert (await client.call("POST", f"/webhook-deliveries/{first['id']}/retry")).status == 202
    answered.set()
    await receiver.until_count(11)
    assert sequences(receiver) == [1, 2, 1, *range(3, 11)]


async def test_an_error_while_loading_loses_no_delivery(
    client: StudioClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lane has seen that there is new work, but not the work. It is not released before it has."""
    in_order, failed = attempts.in_order, asyncio.Event()

    async def failing_once(*args: Any) -> list[attempts.Due]:
        if receiver.count == 1 and not failed.is_set():
            failed.set()
            raise ConnectionResetError
        return await in_order(*args)

    monkeypatch.setattr(attempts, "in_order", failing_once)
    # The lane waits for its rate limit with nothing in flight when the second event comes.
    await client.endpoint(receiver.url, fifo=True, rate_limit=2)
    await client.publish_some(1)
    await receiver.until_count(1)
    await client.publish_some(1)
    # Sooner than a lane that misses a delivery is looked at again.
    await receiver.until_count(2, seconds=8)
    assert failed.is_set()


async def test_an_event_that_was_created_later_and_logged_earlier_keeps_its_place(
    client: StudioClient, receiver: Receiver
) -> None:
    """A lane sends in the order of the log, whatever the clocks of the producers say."""
    endpoint = await client.endpoint(receiver.url, fifo=True)
    await hold_lanes(client)
    moment = now()
    await client.publish(client.event(created_at=moment))
    await client.until_deliveries(endpoint["id"], lambda found: len(found) == 1)
    for created_at in (moment + timedelta(seconds=1), moment):
        await client.publish(client.event(created_at=created_at))
    await client.until_deliveries(endpoint["id"], lambda found: len(found) == 3)
    async with client.context.db.connection() as conn:
        found = await attempts.in_order(conn, endpoint["id"], 10)
    assert [due.sequence for due in found] == [1, 2, 3]
