"""What the event log passes on to the dispatcher of its process: idle lanes, with their first deliveries."""

import asyncio

from services.webhooks.actions.log_events import add_to_log, log_events, make_deliveries
from services.webhooks.store import lanes
from services.webhooks.store.attempts import Claimed
from services.webhooks.store.event_log import StoredEvent
from shared.events.envelope import read_envelope
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, hang
from tests.services.webhooks.studio_client import StudioClient, message_of

HOOK = "http://127.0.0.1:9/"


async def claimed_by_log(client: StudioClient, endpoint_id: str, events: int) -> list[Claimed]:
    async with client.context.db.transaction() as conn:
        envelopes = [read_envelope(message_of(client.event()).body) for _ in range(events)]
        logged: list[StoredEvent] = await add_to_log(conn, envelopes)
        pairs = [(event, endpoint_id) for event in logged]
        return (await make_deliveries(conn, pairs, may_claim=lambda _: True)).claimed


async def test_an_idle_endpoint_is_sent_to_without_a_poll(client: StudioClient, receiver: Receiver) -> None:
    """Its lane runs as soon as the event is logged. The control is a second event, while it is busy."""
    receiver.response = hang
    await client.endpoint(receiver.url)
    dispatcher = client.context.dispatching.dispatcher
    assert dispatcher is not None
    await log_events(client.context, [message_of(client.event())])
    assert dispatcher.lanes_running == 1
    await receiver.until_count(1)
    await log_events(client.context, [message_of(client.event())])
    assert dispatcher.lanes_running == 1
    await receiver.until_count(2)


async def test_a_lane_that_was_passed_on_notices_a_change_that_was_committed_meanwhile(
    client: StudioClient,
) -> None:
    """The log waits for the lane, and then has the endpoint as it was before: it must not look up to date."""
    endpoint_id = (await client.endpoint(HOOK))["id"]
    async with client.context.db.transaction() as conn:
        await conn.execute("UPDATE endpoints SET url = $2 WHERE id = $1", endpoint_id, f"{HOOK}new")
        await lanes.changed(conn, endpoint_id)
        claiming = asyncio.create_task(claimed_by_log(client, endpoint_id, 1))
        await eventually(lambda: client.sql("SELECT FROM pg_locks WHERE NOT granted"))
    [claimed] = await claiming
    assert claimed.first.target.url == HOOK, "control: it is the old one"
    async with client.context.db.connection() as conn:
        assert claimed.first.target.changes < await lanes.version(conn, endpoint_id)


async def test_a_lane_that_is_claimed_during_a_stop_is_given_back(
    client: StudioClient, receiver: Receiver
) -> None:
    """The next process need not wait for the lease."""
    receiver.response = hang
    dispatcher = client.context.dispatching.dispatcher
    assert dispatcher is not None
    busy, idle = await client.endpoint(receiver.url), await client.endpoint(HOOK)
    await log_events(client.context, [message_of(client.event())])
    await receiver.until_count(1)
    await client.sql("UPDATE lanes SET due_at = 'infinity', token = NULL WHERE endpoint_id = $1", idle["id"])
    claimed = await claimed_by_log(client, idle["id"], 1)
    stopping = asyncio.create_task(dispatcher.stop())
    await asyncio.sleep(0)
    assert not dispatcher.has_room([client.studio_id])
    dispatcher.start(claimed)
    await stopping
    rows = await client.sql("SELECT endpoint_id, token FROM lanes")
    assert {row["endpoint_id"]: row["token"] for row in rows} == {busy["id"]: None, idle["id"]: None}
