"""The state of every service, now and at each minute of the last hour."""

import asyncio
from typing import Any

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.store import request_counts, status_history
from shared.errors import DomainError
from shared.http.health import health_of
from shared.wire import new_id


async def system_status(context: OperatorContext, request_id: str) -> dict[str, dict[str, Any]]:
    names = list(context.upstreams)
    parts = await asyncio.gather(*(_status_of(context, name, request_id) for name in names))
    gateway = msgspec.to_builtins(await health_of(context.checks))
    return {"gateway": gateway, **dict(zip(names, parts, strict=True))}


async def _status_of(context: OperatorContext, name: str, request_id: str) -> dict[str, Any]:
    try:
        ready = await context.call_service(name, "GET", "/health/ready", request_id=request_id)
        figures = await context.call_service(name, "GET", "/internal/status", request_id=request_id)
    except DomainError as problem:
        return {"status": "unreachable", "problem": problem.text}
    state: dict[str, Any] = msgspec.json.decode(ready.body)
    if figures.status == 200:
        state["figures"] = msgspec.json.decode(figures.body)
    return state


SUMS = ("outbox_waiting", "pending_deliveries", "dead_deliveries")
LARGEST = ("outbox_age_seconds", "oldest_pending_seconds")


async def sample_status(context: OperatorContext) -> bool:
    """One step of a loop."""
    services = await system_status(context, new_id())
    figures = [state.get("figures", {}) for state in services.values()]
    queues = [queue for one in figures for queue in one.get("queues", ())]
    sample: dict[str, Any] = {name: sum(one.get(name, 0) for one in figures) for name in SUMS}
    sample |= {name: max(one.get(name, 0.0) for one in figures) for name in LARGEST}
    sample["services"] = {name: state["status"] for name, state in services.items()}
    sample["queue_waiting"] = sum(queue["waiting"] for queue in queues)
    sample["parked"] = sum(queue["parked"] for queue in queues)
    async with context.db.connection() as conn:
        sample |= await request_counts.last_minute(conn)
        await status_history.add(conn, sample)
    return False
