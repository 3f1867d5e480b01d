"""`GET /operator/v1/status`: readiness of every service, and the backlog of outbox, queues, deliveries."""

import asyncio
from typing import Any

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.wire.status import SystemStatus
from shared.errors import DomainError
from shared.http.health import health_of
from shared.http.routes import Call, Route


async def get_status(context: OperatorContext, call: Call[None, None]) -> dict[str, Any]:
    request_id = call.caller.request_id
    names = list(context.upstreams)
    parts = await asyncio.gather(*(_service(context, name, request_id) for name in names))
    gateway = msgspec.to_builtins(await health_of(context.checks))
    return {"object": "status", "services": {"gateway": gateway, **dict(zip(names, parts, strict=True))}}


async def _service(context: OperatorContext, name: str, request_id: str) -> dict[str, Any]:
    try:
        ready = await context.call_service(name, "GET", "/health/ready", request_id=request_id)
        figures = await context.call_service(name, "GET", "/internal/status", request_id=request_id)
    except DomainError as problem:
        return {"status": "unreachable", "problem": problem.text}
    state: dict[str, Any] = msgspec.json.decode(ready.body)
    if figures.status == 200:
        state["figures"] = msgspec.json.decode(figures.body)
    return state


ROUTES: list[Route[OperatorContext]] = [
    Route(
        method="GET",
        path="/operator/v1/status",
        handler=get_status,
        summary="Services, outbox age, queue depth, dead deliveries",
        answer=SystemStatus,
    )
]
