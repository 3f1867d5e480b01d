"""A client of the forms service: signed calls, their answers, and the published events."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from services.forms.context import Forms
from shared.events.bus import Message
from shared.events.bus.memory import MemoryBus
from shared.http.caller import CALLER_HEADER, Actor, Caller, CallerSigner
from shared.http.service import Service
from shared.wire import new_id

CALLER_KEY = "a key of the tests"
KINDS = ("forms", "form_submissions", "leads")
EVERY_SCOPE = frozenset(f"{kind}:{act}" for kind in KINDS for act in ("read", "write"))
READER = EVERY_SCOPE - {"forms:write"}


class Reply(Struct, frozen=True):
    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])

    @property
    def problems(self) -> list[tuple[tuple[Any, ...], str]]:
        return [(tuple(problem["loc"]), problem["type"]) for problem in self.json["detail"]]


class EventRecorder:
    """Records every published event once, in order: an erasure publishes again what it has changed."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._more = asyncio.Condition()

    async def record(self, messages: Sequence[Message]) -> None:
        async with self._more:
            known = {event["id"] for event in self.events}
            published = [msgspec.json.decode(message.body) for message in messages]
            self.events += [event for event in published if event["id"] not in known]
            self._more.notify_all()

    async def first(self, count: int) -> list[dict[str, Any]]:
        """Without those of the forms that a test needs."""
        async with asyncio.timeout(30), self._more:
            await self._more.wait_for(lambda: len(self._about_people()) >= count)
        return self._about_people()[:count]

    def _about_people(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["resource"]["object"] != "form"]

    async def of_resource(self, resource_id: str, count: int) -> list[dict[str, Any]]:
        def found() -> list[dict[str, Any]]:
            return [event for event in self.events if event["resource"]["id"] == resource_id]

        async with asyncio.timeout(30), self._more:
            await self._more.wait_for(lambda: len(found()) >= count)
        return found()[:count]


class StudioClient:
    def __init__(self, service: Service[Forms], bus: MemoryBus, recorder: EventRecorder) -> None:
        self.service = service
        self.bus = bus
        self.recorder = recorder
        self.id = new_id()
        self._signer = CallerSigner((CALLER_KEY,))
        transport = httpx.ASGITransport(app=service.app)  # type: ignore[arg-type]
        self._http = httpx.AsyncClient(transport=transport, base_url="http://forms")

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        scopes: frozenset[str] = EVERY_SCOPE,
        studio_id: str | None = None,
        actor: Actor = "client",
        key: str | None = None,
    ) -> Reply:
        caller = Caller(studio_id=studio_id or self.id, client_id="c", key_id="k", scopes=scopes, actor=actor)
        headers = {CALLER_HEADER: self._signer.sign(caller)}
        if key is not None:
            headers[b"idempotency-key"] = key.encode()
        raw = body if isinstance(body, bytes | None) else msgspec.json.encode(body)
        if raw is not None:
            headers[b"content-type"] = b"application/json"
        response = await self._http.request(method, path, content=raw, headers=headers)
        return Reply(response.status_code, response.content)

    async def get(self, path: str, **how: Any) -> Reply:
        return await self.call("GET", path, **how)

    async def post(self, path: str, body: Any = None, **how: Any) -> Reply:
        return await self.call("POST", path, body, **how)

    async def put(self, path: str, body: Any, **how: Any) -> Reply:
        return await self.call("PUT", path, body, **how)

    async def patch(self, path: str, body: Any, **how: Any) -> Reply:
        return await self.call("PATCH", path, body, **how)

    async def form(self, *fields: dict[str, Any], **others: Any) -> dict[str, Any]:
        """A published form, made for the test."""
        body = {"title": f"Form {new_id()}", "status": "published", "fields": list(fields), **others}
        reply = await self.post("/forms", body)
        assert reply.status == 201, reply.body
        form: dict[str, Any] = reply.json
        return form

    async def submit(
        self, form: dict[str, Any], data: dict[str, Any], email: str = "ann@example.com", **how: Any
    ) -> Reply:
        body = {"submitter_email": email, "data": data}
        return await self.post(f"/forms/{form['id']}/submissions", body, **how)

    async def import_lines(self, *resources: Any, send_events: bool = False) -> Any:
        lines = [
            {"number": number, "studio_id": self.id, "resource": resource}
            for number, resource in enumerate(resources, 1)
        ]
        reply = await self.post(
            f"/internal/import?send_events={str(send_events).lower()}", lines, actor="operator"
        )
        assert reply.status == 200, reply.body
        return reply.json


def field(key: str, type: str = "text", **properties: Any) -> dict[str, Any]:
    return {"key": key, "label": key, "type": type, **properties}
