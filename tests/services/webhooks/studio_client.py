"""The webhooks service on a real database, with the calls that its tests make."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from unittest.mock import patch

import httpx
import structlog
from aiohttp import web
from structlog.testing import LogCapture

from services.webhooks.app import open_service
from services.webhooks.context import Webhooks
from services.webhooks.dispatcher import lane
from shared.events.bus import Bus, Message
from shared.events.bus.memory import MemoryBus
from shared.events.envelope import render
from shared.events.event import Event, EventResource, Kind
from shared.events.kinds import BookingCreated
from shared.http.caller import CALLER_HEADER, Caller, CallerSigner
from shared.http.service import Service
from shared.settings import Settings
from shared.wire import new_id
from tests.harness.database_layout import urls_of_service
from tests.harness.eventually import eventually, until
from tests.harness.http import Reply
from tests.harness.receiver import Received, Receiver
from tests.harness.send_events import send_events

T = TypeVar("T")
READABLE = ("bookings", "form_submissions", "leads", "members", "schedule", "webhooks")
ALL_READS = frozenset({"webhooks:write", *(f"{name}:read" for name in READABLE)})


class StudioClient:
    """`call` is what the gateway would send; the default caller sees everything of one studio."""

    def __init__(self, service: Service[Webhooks], bus: Bus, signer: CallerSigner) -> None:
        self.service = service
        self.context = service.context
        self.bus = bus
        self.signer = signer
        self.studio_id = new_id()
        self.client_id = new_id()
        transport = httpx.ASGITransport(app=service.app)  # type: ignore[arg-type]
        self.http = httpx.AsyncClient(transport=transport, base_url="http://webhooks")

    def caller(self, **fields: Any) -> Caller:
        known = {"studio_id": self.studio_id, "client_id": self.client_id, "scopes": ALL_READS}
        return Caller(**(known | fields))

    @property
    def operator(self) -> Caller:
        return Caller(studio_id=self.studio_id, actor="operator")

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        caller: Caller | None = None,
        key: str | None = None,
        **query: Any,
    ) -> Reply:
        headers = {CALLER_HEADER.decode(): self.signer.sign(caller or self.caller()).decode()}
        if key is not None:
            headers["idempotency-key"] = key
        response = await self.http.request(method, path, json=body, params=query or None, headers=headers)
        return Reply(response.status_code, response.headers, response.content)

    async def endpoint(self, url: str, *, caller: Caller | None = None, **fields: Any) -> dict[str, Any]:
        reply = await self.call("POST", "/webhook-endpoints", {"url": url} | fields, caller=caller)
        assert reply.status == 201, reply.body
        made: dict[str, Any] = reply.json()
        return made

    def event(self, kind: Kind = BookingCreated, **fields: Any) -> Event:
        resource = EventResource("booking", new_id(), 1)
        known: dict[str, Any] = {
            "studio_id": self.studio_id,
            "resource": resource,
            "data": {"id": resource.id},
        }
        return Event(kind=kind, **(known | fields))

    async def publish(self, *events: Event) -> None:
        await send_events(self.bus, [message_of(event) for event in events])

    async def publish_some(self, count: int, **fields: Any) -> list[str]:
        events = [self.event(**fields) for _ in range(count)]
        await self.publish(*events)
        return [event.id for event in events]

    async def deliveries(self, endpoint_id: str, **query: Any) -> list[dict[str, Any]]:
        path = f"/webhook-endpoints/{endpoint_id}/deliveries"
        reply = await self.call("GET", path, limit=200, **query)
        assert reply.status == 200, reply.body
        data: list[dict[str, Any]] = reply.json()["data"]
        return data

    async def until_deliveries(
        self, endpoint_id: str, fact: Callable[[list[dict[str, Any]]], bool]
    ) -> list[dict[str, Any]]:
        async def look() -> list[dict[str, Any]] | None:
            found = await self.deliveries(endpoint_id)
            return found if fact(found) else None

        return await eventually(look)

    async def sql(self, text: str, *args: Any) -> list[Any]:
        async with self.context.db.connection() as conn:
            return list(await conn.fetch(text, *args))

    async def value(self, text: str) -> Any:
        """Of a statement with one row and one column."""
        [[value]] = await self.sql(text)
        return value


def held(receiver: Receiver, status: int = 200) -> asyncio.Event:
    """Its responses wait for the event."""
    opened = asyncio.Event()

    async def response(_: Received) -> web.StreamResponse:
        await opened.wait()
        return web.Response(status=status)

    receiver.response = response
    return opened


def message_of(event: Event) -> Message:
    return Message(event.id, event.type, render(event))


async def hold_lanes(client: StudioClient) -> str:
    """Lease all lanes to an owner that does nothing, so that the dispatcher leaves them alone."""
    token = new_id()
    await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '50 s'", token)
    return token


async def lane_is_free(client: StudioClient) -> bool:
    return not await client.sql("SELECT 1 FROM lanes WHERE token IS NOT NULL")


@asynccontextmanager
async def change_applied(client: StudioClient) -> AsyncIterator[None]:
    """On exit, the lane has applied the changes made inside the block."""
    # A separate logger, because logging may be configured without debug lines in this process.
    lines = LogCapture()
    everything = structlog.make_filtering_bound_logger(logging.NOTSET)
    with patch.object(lane, "log", structlog.wrap_logger(None, [lines], everything)):
        yield
        changes = await client.value("SELECT changes FROM lanes")

        def applied() -> bool:
            seen = [line["changes"] for line in lines.entries if line["event"] == "endpoint_change_applied"]
            return changes in seen

        await until(applied)


def settings_for(database_url: str, **fields: Any) -> Settings:
    known: dict[str, Any] = {
        **urls_of_service(database_url),
        "caller_keys": ("k" * 32,),
        "webhook_keys": ("w" * 32,),
        "webhook_allow_http": True,
        "webhook_allow_hosts": frozenset({"127.0.0.1"}),
        "webhook_retry_schedule": (0.05, 0.05, 0.05),
    }
    return Settings(**(known | fields))


@asynccontextmanager
async def open_studio_client(
    database_url: str, *, bus: Bus | None = None, **fields: Any
) -> AsyncIterator[StudioClient]:
    settings = settings_for(database_url, **fields)
    bus = bus or MemoryBus()
    async with open_service(settings, bus) as service:
        client = StudioClient(service, bus, CallerSigner(settings.caller_keys))
        yield client
        await client.http.aclose()
    await bus.close()


def statuses(found: Sequence[dict[str, Any]]) -> list[str]:
    return [delivery["status"] for delivery in found]
