"""Changes to an endpoint apply at once: a lane reloads what it prefetched and has not started."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from standardwebhooks import Webhook
from structlog.testing import capture_logs

from services.webhooks.dispatcher.dispatcher import Dispatcher
from services.webhooks.dispatcher.lane import TARGET_TTL, Lane
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.retry import Breaker
from services.webhooks.store.lanes import Lease
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import (
    StudioClient,
    change_applied,
    held,
    hold_lanes,
    lane_is_free,
    open_studio_client,
    statuses,
)

Change = Callable[[StudioClient, str], Awaitable[Any]]


async def with_a_full_prefetch(
    client: StudioClient, receiver: Receiver, status: int = 200
) -> tuple[asyncio.Event, dict[str, Any]]:
    """Two attempts in flight, a full window, whose responses wait for the event, and many prefetched."""
    opened, endpoint = held(receiver, status), await client.endpoint(receiver.url)
    await hold_lanes(client)
    await client.publish_some(60)
    await client.sql("UPDATE lanes SET leased_until = NULL")
    await receiver.until_count(2)
    return opened, endpoint


async def disable(client: StudioClient, path: str) -> Any:
    return await client.call("PATCH", path, {"status": "disabled"})


async def delete(client: StudioClient, path: str) -> Any:
    return await client.call("DELETE", path)


async def revoke(client: StudioClient, path: str) -> Any:
    body = {"studio_id": client.studio_id, "client_id": client.client_id}
    return await client.call("POST", "/internal/clients/revoked", body, caller=client.operator)


@pytest.mark.parametrize("change", [disable, delete, revoke])
async def test_an_endpoint_that_is_switched_off_gets_nothing_that_was_prefetched(
    client: StudioClient, receiver: Receiver, change: Change
) -> None:
    """Only attempts that were in flight arrive."""
    opened, endpoint = await with_a_full_prefetch(client, receiver)
    path = f"/webhook-endpoints/{endpoint['id']}"
    async with change_applied(client):
        assert (await change(client, path)).status < 300
    opened.set()
    await eventually(lambda: lane_is_free(client))
    assert receiver.count == 2
    untouched = "SELECT count(*) FROM deliveries WHERE status = 'pending' AND attempt_count = 0"
    assert await client.value(untouched) == 58


async def test_a_change_made_on_another_replica_applies_too(
    client: StudioClient, database_url: str, receiver: Receiver
) -> None:
    """The replica that sends finds it by polling, even with a full prefetch."""
    opened, endpoint = await with_a_full_prefetch(client, receiver)
    async with open_studio_client(database_url) as other:
        other.studio_id, other.client_id = client.studio_id, client.client_id
        async with change_applied(client):
            assert (await disable(other, f"/webhook-endpoints/{endpoint['id']}")).status == 200
        opened.set()
        await eventually(lambda: lane_is_free(client))
    assert receiver.count == 2


async def test_nothing_is_sent_with_settings_older_than_a_second(
    client: StudioClient, receiver: Receiver
) -> None:
    """If no wake-up comes, because polling is stuck, the lane reloads them by itself."""
    opened = held(receiver)
    endpoint = await client.endpoint(receiver.url)
    token = await hold_lanes(client)
    await client.publish_some(60)
    async with Sender(client.context.urls) as sender:
        resources = Dispatcher(client.context.db, sender, client.context.cipher, (0.05,))
        running = asyncio.create_task(
            Lane(resources, Lease(endpoint["id"], client.studio_id, token), Breaker()).run()
        )
        await receiver.until_count(2)
        await disable(client, f"/webhook-endpoints/{endpoint['id']}")
        await asyncio.sleep(TARGET_TTL)
        opened.set()
        await asyncio.wait_for(running, 10)
    assert receiver.count == 2


async def test_a_new_url_and_a_new_secret_apply_to_what_was_prefetched(
    client: StudioClient, receiver: Receiver, second_receiver: Receiver
) -> None:
    """Everything not yet started goes to the new URL, signed only with the new secret."""
    opened, endpoint = await with_a_full_prefetch(client, receiver)
    path = f"/webhook-endpoints/{endpoint['id']}"
    async with change_applied(client):
        rotated = await client.call("POST", f"{path}/rotate-secret", {"overlap_seconds": 0})
        await client.call("PATCH", path, {"url": second_receiver.url})
    opened.set()
    got = await second_receiver.until_count(58)
    assert receiver.count == 2
    for one in got:
        Webhook(rotated.json()["secret"]).verify(one.body, one.headers)
        assert " " not in one.headers["webhook-signature"]
    await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 60)
    assert second_receiver.count == 58, "nothing was sent twice"


async def test_gone_stops_what_was_prefetched_and_is_logged_once(
    client: StudioClient, receiver: Receiver
) -> None:
    """A 410 stops the lane at once, however many responses say the same."""
    opened, endpoint = await with_a_full_prefetch(client, receiver, status=410)
    with capture_logs() as lines:
        opened.set()
        await eventually(lambda: lane_is_free(client))
    assert receiver.count == 2
    assert [line["reason"] for line in lines if line["event"] == "endpoint_disabled"] == ["gone"]
    shown = (await client.call("GET", f"/webhook-endpoints/{endpoint['id']}")).json()
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "gone")
