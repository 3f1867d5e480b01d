"""Erasure of members and leads."""

from typing import Any

from services.gateway.actions.erase_person import erase_person
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.wire.status import Erasure
from services.gateway.wire.studio import StudioFilter
from shared.errors import NotFound
from shared.http.routes import Call, Route


async def erase_member(context: OperatorContext, call: Call[StudioFilter, None]) -> dict[str, Any]:
    studio = await _studio_of(context, call)
    return await erase_person(context, "member", call.path["member_id"], studio, call.caller.request_id)


async def erase_lead(context: OperatorContext, call: Call[StudioFilter, None]) -> dict[str, Any]:
    studio = await _studio_of(context, call)
    return await erase_person(context, "lead", call.path["lead_id"], studio, call.caller.request_id)


async def _studio_of(context: OperatorContext, call: Call[StudioFilter, None]) -> str | None:
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
