"""Tokens of a studio's staff. A manager issues, lists and revokes those of their own studio."""

from services.gateway.actions.issue_staff_token import issue_staff_token
from services.gateway.context import OperatorContext
from services.gateway.store import staff_tokens, studios
from services.gateway.wire.key import IssuedStaffToken, StaffToken, StaffTokenCreate
from shared.errors import NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route

PATH = "/operator/v1/studios/{studio}/staff-tokens"


async def post_token(context: OperatorContext, call: Call[None, StaffTokenCreate]) -> IssuedStaffToken:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
    return await issue_staff_token(context, studio.id, call.body)


async def list_tokens(context: OperatorContext, call: Call[None, None]) -> Page[StaffToken]:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
        return Page(data=await staff_tokens.all_of(conn, studio.id), has_more=False, next_cursor=None)


async def post_revocation(context: OperatorContext, call: Call[None, None]) -> StaffToken:
    async with context.db.transaction() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
        return await staff_tokens.revoke(conn, studio.id, call.path["token_id"])


ROUTES: list[Route[OperatorContext]] = [
    Route(
        method="POST",
        path=PATH,
        handler=post_token,
        summary="Issue a staff token",
        description="For one studio, with the role `staff` or `manager`. The token is shown only once.",
        body=StaffTokenCreate,
        answer=IssuedStaffToken,
        status=201,
        errors=(NotFound,),
        role="manager",
        tag="Staff tokens",
    ),
    Route(
        method="GET",
        path=PATH,
        handler=list_tokens,
        summary="List staff tokens",
        answer=Page[StaffToken],
        errors=(NotFound,),
        role="manager",
        tag="Staff tokens",
    ),
    Route(
        method="POST",
        path=f"{PATH}/{{token_id}}/revoke",
        handler=post_revocation,
        summary="Revoke a staff token",
        description="It is refused from the next request on.",
        answer=StaffToken,
        errors=(NotFound,),
        role="manager",
        tag="Staff tokens",
    ),
]
