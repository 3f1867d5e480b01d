"""The state of every service, now and at each minute of the last hour."""

import asyncio
import time
from hashlib import blake2b
from typing import Any, Final

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.store import request_counts, status_history
from services.gateway.wire.request import StatusQuery
from shared.errors import DomainError
from shared.http.health import health_of
from shared.wire import encode, new_id

# How often the services are asked for somebody who waits. A page has to show a failure within ten seconds.
LOOK_SECONDS: Final = 4.0
# The figures that somebody acts on. Others change all the time.
ACTED_ON = ("failing_endpoints", "dead_deliveries", "pending_deliveries", "queues")


async def system_status(context: OperatorContext, request_id: str) -> dict[str, dict[str, Any]]:
    names = list(context.upstreams)
    parts = await asyncio.gather(*(_status_of(context, name, request_id) for name in names))
    gateway = msgspec.to_builtins(await health_of(context.checks))
    return {"gateway": gateway, **dict(zip(names, parts, strict=True))}


async def changed_status(
    context: OperatorContext, query: StatusQuery, request_id: str
) -> dict[str, dict[str, Any]]:
    """The status, as soon as its version is not the given one, or once the wait is over."""
    ends = time.monotonic() + query.wait
    while True:
        services = await system_status(context, request_id)
        if version_of(services) != query.version or time.monotonic() + LOOK_SECONDS > ends:
            return services
        await asyncio.sleep(LOOK_SECONDS)


def version_of(services: dict[str, dict[str, Any]]) -> str:
    """The same for two states that look alike to whoever watches them."""
    watched: list[Any] = []
    for state in services.values():
        figures = state.get("figures", {})
        watched += [state["status"], state.get("parts"), [figures.get(name) for name in ACTED_ON]]
    return blake2b(encode(watched), digest_size=8).hexdigest()


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
