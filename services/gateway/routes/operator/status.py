"""Erasure of people, sequences after a restore, and the status of every service."""

from typing import Any

from services.gateway.actions.erase_person import Kind, erase_person
from services.gateway.actions.studios import advance_sequences
from services.gateway.actions.system_status import changed_status, system_status, version_of
from services.gateway.context import OperatorContext
from services.gateway.store import status_history, studios
from services.gateway.wire.request import (
    Erasure,
    SequencesAdvance,
    SequencesAdvanced,
    StatusQuery,
    StatusSample,
    SystemStatus,
)
from services.gateway.wire.studio import StudioFilter
from shared.errors import NotFound
from shared.http.pages import Page, whole_page
from shared.http.routes import Call, Routes
from shared.http.waiting import unless_ended
from shared.routing import OPERATOR_PREFIX

ROUTES: Routes[OperatorContext] = Routes(OPERATOR_PREFIX)


@ROUTES.add(
    "POST",
    "/members/{member_id}/erase",
    "Make a member anonymous everywhere",
    response=Erasure,
    errors=(NotFound,),
    role="manager",
)
async def erase_member(context: OperatorContext, call: Call[StudioFilter, None]) -> dict[str, Any]:
    return await _erase(context, call, "member", call.path["member_id"])


@ROUTES.add(
    "POST",
    "/leads/{lead_id}/erase",
    "Make a lead anonymous everywhere",
    response=Erasure,
    errors=(NotFound,),
    role="manager",
)
async def erase_lead(context: OperatorContext, call: Call[StudioFilter, None]) -> dict[str, Any]:
    return await _erase(context, call, "lead", call.path["lead_id"])


async def _erase(
    context: OperatorContext, call: Call[StudioFilter, None], kind: Kind, person_id: str
) -> dict[str, Any]:
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, call.query.studio)
    return await erase_person(context, kind, person_id, studio_id, call.caller.request_id)


@ROUTES.add(
    "POST",
    "/sequences/advance",
    "Move every studio's sequences forward after a restore",
    optional_body=True,
)
async def post_advance(context: OperatorContext, call: Call[None, SequencesAdvance]) -> SequencesAdvanced:
    """Run once after a restore, before partners come back."""
    moved = await advance_sequences(context, call.body.by, call.caller.request_id)
    return SequencesAdvanced(studios=moved, by=call.body.by)


@ROUTES.add("GET", "/status", "Services, outbox age, queue depth, dead deliveries", response=SystemStatus)
async def get_status(context: OperatorContext, call: Call[StatusQuery, None]) -> dict[str, Any]:
    request_id = call.caller.request_id
    waiting = changed_status(context, call.query, request_id)
    services = await unless_ended(waiting, call.receive, call.stopping)
    if services is None:  # the process is being stopped
        services = await system_status(context, request_id)
    return {"object": "status", "services": services, "version": version_of(services)}


@ROUTES.add("GET", "/status/history", "The figures of the status in the last hour")
async def get_history(context: OperatorContext, call: Call[None, None]) -> Page[StatusSample]:
    async with context.db.connection() as conn:
        return whole_page(await status_history.all_of(conn))
