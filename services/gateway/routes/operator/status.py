"""`GET /operator/v1/status`: is every service ready, and how far behind are outbox, queues and deliveries."""

import asyncio
from typing import Any

import msgspec

from services.gateway.context import Operators
from shared.errors import DomainError
from shared.http.routes import Call, Route


async def get_status(operators: Operators, call: Call[None, None]) -> dict[str, Any]:
    request_id = call.caller.request_id
    names = list(operators.upstreams)
    parts = await asyncio.gather(*(_service(operators, name, request_id) for name in names))
    return {"object": "status", "services": dict(zip(names, parts, strict=True))}


async def _service(operators: Operators, name: str, request_id: str) -> dict[str, Any]:
    try:
        ready = await operators.ask(name, "GET", "/health/ready", request_id=request_id)
        figures = await operators.ask(name, "GET", "/internal/status", request_id=request_id)
    except DomainError as problem:
        return {"status": "unreachable", "problem": problem.text}
    state: dict[str, Any] = msgspec.json.decode(ready.body)
    if figures.status == 200:
        state["figures"] = msgspec.json.decode(figures.body)
    return state


ROUTES: list[Route[Operators]] = [
    Route(
        method="GET",
        path="/operator/v1/status",
        handler=get_status,
        summary="Services, outbox age, queue depth, dead deliveries",
        answer=dict[str, Any],
    )
]
