"""Erasure of people, sequences after a restore, and the status of every service."""

import asyncio
from typing import Any

import msgspec

from services.gateway.actions.advance_sequences import advance_sequences
from services.gateway.actions.erase_person import erase_person
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.wire.request import Erasure, SequencesAdvance, SequencesAdvanced, SystemStatus
from services.gateway.wire.studio import StudioFilter
from shared.errors import DomainError, NotFound
from shared.http.health import health_of
from shared.http.routes import Call, Route


async def erase_member(context: OperatorContext, call: Call[StudioFilter, None]) -> dict[str, Any]:
    studio = await _studio_to_search(context, call)
    return await erase_person(context, "member", call.path["member_id"], studio, call.caller.request_id)


async def erase_lead(context: OperatorContext, call: Call[StudioFilter, None]) -> dict[str, Any]:
    studio = await _studio_to_search(context, call)
    return await erase_person(context, "lead", call.path["lead_id"], studio, call.caller.request_id)


async def _studio_to_search(context: OperatorContext, call: Call[StudioFilter, None]) -> str | None:
    """A manager's own studio. An operator who names no studio searches all of them."""
    named = call.query.studio or call.caller.studio_id
    if not named:
        return None
    async with context.db.connection() as conn:
        return (await studios.find_for(conn, call.caller, named)).id


ROUTES: list[Route[OperatorContext]] = [
    Route(
        method="POST",
        path="/operator/v1/members/{member_id}/erase",
        handler=erase_member,
        summary="Make a member anonymous everywhere",
        query=StudioFilter,
        answer=Erasure,
        errors=(NotFound,),
        role="manager",
    ),
    Route(
        method="POST",
        path="/operator/v1/leads/{lead_id}/erase",
        handler=erase_lead,
        summary="Make a lead anonymous everywhere",
        query=StudioFilter,
        answer=Erasure,
        errors=(NotFound,),
        role="manager",
    ),
]


# `POST /operator/v1/sequences/advance`: run once after a restore, before partners come back.
async def post_advance(context: OperatorContext, call: Call[None, SequencesAdvance]) -> SequencesAdvanced:
    studios = await advance_sequences(context, call.body.by, call.caller.request_id)
    return SequencesAdvanced(studios=studios, by=call.body.by)


ROUTES += [
    Route(
        method="POST",
        path="/operator/v1/sequences/advance",
        handler=post_advance,
        summary="Move every studio's sequences forward after a restore",
        body=SequencesAdvance,
        optional_body=True,
        answer=SequencesAdvanced,
    )
]


async def get_status(context: OperatorContext, call: Call[None, None]) -> dict[str, Any]:
    request_id = call.caller.request_id
    names = list(context.upstreams)
    parts = await asyncio.gather(*(_status_of(context, name, request_id) for name in names))
    gateway = msgspec.to_builtins(await health_of(context.checks))
    return {"object": "status", "services": {"gateway": gateway, **dict(zip(names, parts, strict=True))}}


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


ROUTES += [
    Route(
        method="GET",
        path="/operator/v1/status",
        handler=get_status,
        summary="Services, outbox age, queue depth, dead deliveries",
        answer=SystemStatus,
    )
]
