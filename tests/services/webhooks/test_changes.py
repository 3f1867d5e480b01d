"""Changes to an endpoint apply at once: a lane reloads what it prefetched and has not started."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks import Webhook
from structlog.testing import capture_logs

from services.webhooks.dispatcher.dispatcher import Dispatcher
from services.webhooks.dispatcher.lane import TARGET_TTL, Lane
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.circuit_breaker import Breaker
from services.webhooks.store.lanes import Lease
from shared.wire import new_id
from tests.harness.receiver import Received, Receiver
from tests.services.webhooks.desk import Desk, change_applied, eventually, open_desk, statuses

Change = Callable[[Desk, str], Awaitable[Any]]


class Gate:
    """Holds a receiver's responses, so that the lane has a full prefetch and a full window."""

    def __init__(self, receiver: Receiver, status: int = 200) -> None:
        self.opened = asyncio.Event()
        self.receiver = receiver
        self.status = status
        receiver.answer = self.answer

    async def answer(self, _: Received) -> web.StreamResponse:
        await self.opened.wait()
        return web.Response(status=self.status)


async def with_a_full_prefetch(desk: Desk, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    """Two attempts in flight, and many prefetched."""
    endpoint = await desk.endpoint(receiver.url, **fields)
    await desk.sql("UPDATE lanes SET leased_until = now() + interval '1 hour'")
    await desk.publish_some(60)
    await desk.sql("UPDATE lanes SET leased_until = NULL")
    await receiver.until_count(2)
    return endpoint


async def disable(desk: Desk, path: str) -> Any:
    return await desk.call("PATCH", path, {"status": "disabled"})


async def delete(desk: Desk, path: str) -> Any:
    return await desk.call("DELETE", path)


async def revoke(desk: Desk, path: str) -> Any:
    body = {"studio_id": desk.studio_id, "client_id": desk.client_id}
    return await desk.call("POST", "/internal/clients/revoked", body, caller=desk.operator)


async def lane_is_free(desk: Desk) -> bool | None:
    return None if await desk.sql("SELECT 1 FROM lanes WHERE token IS NOT NULL") else True


@asynccontextmanager
async def second_replica(desk: Desk, database_url: str) -> AsyncIterator[Desk]:
    """A second replica that holds no lane. The first one finds its changes by polling."""
    async with open_desk(database_url) as other:
        other.studio_id, other.client_id = desk.studio_id, desk.client_id
        yield other


@pytest.mark.parametrize("change", [disable, delete, revoke])
async def test_an_endpoint_that_is_switched_off_gets_nothing_that_was_prefetched(
    desk: Desk, receiver: Receiver, change: Change
) -> None:
    """Only attempts that were in flight arrive."""
    gate = Gate(receiver)
    endpoint = await with_a_full_prefetch(desk, receiver)
    path = f"/webhook-endpoints/{endpoint['id']}"
    async with change_applied(desk):
        assert (await change(desk, path)).status < 300
    gate.opened.set()
    await eventually(lambda: lane_is_free(desk))
    assert receiver.count == 2
    rows = await desk.sql(
        "SELECT count(*) AS n FROM deliveries WHERE status = 'pending' AND attempt_count = 0"
    )
    assert rows[0]["n"] == 58, "they are unchanged"


async def test_a_change_made_on_another_replica_applies_too(
    desk: Desk, database_url: str, receiver: Receiver
) -> None:
    """The replica that sends finds it in the database, even with a full prefetch."""
    gate = Gate(receiver)
    endpoint = await with_a_full_prefetch(desk, receiver)
    async with second_replica(desk, database_url) as other:
        async with change_applied(desk):
            assert (await disable(other, f"/webhook-endpoints/{endpoint['id']}")).status == 200
        gate.opened.set()
        await eventually(lambda: lane_is_free(desk))
    assert receiver.count == 2


async def test_nothing_is_sent_with_settings_older_than_a_second(desk: Desk, receiver: Receiver) -> None:
    """If no wake-up comes, because polling is stuck, the lane reloads them by itself."""
    gate = Gate(receiver)
    endpoint = await desk.endpoint(receiver.url)
    token = new_id()
    await desk.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '1 hour'", token)
    await desk.publish_some(60)
    async with Sender(desk.context.urls) as sender:
        resources = Dispatcher(desk.context.db, sender, desk.context.cipher, (0.05,))
        completing = asyncio.create_task(resources.completer.run())
        running = asyncio.create_task(
            Lane(resources, Lease(endpoint["id"], desk.studio_id, token), Breaker()).run()
        )
        await receiver.until_count(2)
        await disable(desk, f"/webhook-endpoints/{endpoint['id']}")
        await asyncio.sleep(TARGET_TTL)
        gate.opened.set()
        await asyncio.wait_for(running, 10)
        completing.cancel()
    assert receiver.count == 2


async def test_a_new_url_and_a_new_secret_apply_to_what_was_prefetched(
    desk: Desk, receiver: Receiver, second_receiver: Receiver
) -> None:
    """Everything not yet started goes to the new URL, signed only with the new secret."""
    gate = Gate(receiver)
    endpoint = await with_a_full_prefetch(desk, receiver)
    path = f"/webhook-endpoints/{endpoint['id']}"
    async with change_applied(desk):
        rotated = await desk.call("POST", f"{path}/rotate-secret", {"overlap_seconds": 0})
        await desk.call("PATCH", path, {"url": second_receiver.url})
    gate.opened.set()
    got = await second_receiver.until_count(58)
    assert receiver.count == 2
    for one in got:
        Webhook(rotated.json()["secret"]).verify(one.body, one.headers)
        assert " " not in one.headers["webhook-signature"]
    await desk.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 60)
    assert second_receiver.count == 58, "nothing was sent twice"


async def test_gone_stops_what_was_prefetched_and_is_logged_once(desk: Desk, receiver: Receiver) -> None:
    """A 410 stops the lane at once, however many responses say the same."""
    gate = Gate(receiver, status=410)
    endpoint = await with_a_full_prefetch(desk, receiver)
    with capture_logs() as lines:
        gate.opened.set()
        await eventually(lambda: lane_is_free(desk))
    assert receiver.count == 2
    assert [line["reason"] for line in lines if line["event"] == "endpoint_disabled"] == ["gone"]
    shown = (await desk.call("GET", f"/webhook-endpoints/{endpoint['id']}")).json()
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "gone")
