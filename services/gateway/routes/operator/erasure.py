"""Erasure of members and leads."""

from typing import Any

from services.gateway.actions.erase_person import erase_person
from services.gateway.context import Operators
from services.gateway.wire.key import KeysQuery
from shared.errors import NotFound
from shared.http.routes import Call, Route


async def erase_member(operators: Operators, call: Call[KeysQuery, None]) -> dict[str, Any]:
    return await erase_person(
        operators, "member", call.path["member_id"], call.query.studio, call.caller.request_id
    )


async def erase_lead(operators: Operators, call: Call[KeysQuery, None]) -> dict[str, Any]:
    return await erase_person(
        operators, "lead", call.path["lead_id"], call.query.studio, call.caller.request_id
    )


ROUTES: list[Route[Operators]] = [
    Route(
        method="POST",
        path="/operator/v1/members/{member_id}/erase",
        handler=erase_member,
        summary="Make a member anonymous everywhere",
        query=KeysQuery,
        answer=dict[str, Any],
        errors=(NotFound,),
    ),
    Route(
        method="POST",
        path="/operator/v1/leads/{lead_id}/erase",
        handler=erase_lead,
        summary="Make a lead anonymous everywhere",
        query=KeysQuery,
        answer=dict[str, Any],
        errors=(NotFound,),
    ),
]
