"""Studios, clients, keys and their use, the audit log, links into the partner console, and staff tokens."""

from typing import Any

from msgspec import UNSET

from services.gateway.actions.create_studio import create_studio
from services.gateway.actions.issue_key import issue_key, issue_staff_token, revoke_key, rotate_key
from services.gateway.actions.open_console import make_console_link
from services.gateway.context import OperatorContext
from services.gateway.errors import ClientWithoutKey, KeyNotLive, SlugTaken, StudioExists
from services.gateway.store import audit_log, clients, key_usage, keys, staff_tokens, studios
from services.gateway.wire.key import (
    Client,
    ClientSet,
    ConsoleSession,
    ConsoleSessionCreate,
    IssuedKey,
    IssuedStaffToken,
    Key,
    KeyCreate,
    KeyRevoke,
    KeyRotate,
    StaffToken,
    StaffTokenCreate,
)
from services.gateway.wire.request import AuditEntry, AuditQuery, KeyUsage, UsageQuery
from services.gateway.wire.studio import OperatorStudio, StudioCreate, StudioFilter
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route


async def post_studio(context: OperatorContext, call: Call[None, StudioCreate]) -> OperatorStudio:
    return await create_studio(context, call.body, call.caller.request_id)


async def list_studios(context: OperatorContext, call: Call[None, None]) -> Page[OperatorStudio]:
    async with context.db.connection() as conn:
        if call.caller.studio_id:
            found = [await studios.find(conn, call.caller.studio_id)]
        else:
            found = await studios.all_of(conn)
        return Page(data=found, has_more=False, next_cursor=None)


async def get_studio(context: OperatorContext, call: Call[None, None]) -> OperatorStudio:
    async with context.db.connection() as conn:
        return await studios.find_for(conn, call.caller, call.path["studio"])


async def list_clients(context: OperatorContext, call: Call[StudioFilter, None]) -> Page[Client]:
    async with context.db.connection() as conn:
        studio_id = await _studio_id(conn, call)
        return Page(data=await clients.all_of(conn, studio_id), has_more=False, next_cursor=None)


async def patch_client(context: OperatorContext, call: Call[None, ClientSet]) -> Client:
    rate = None if call.body.rate is UNSET else call.body.rate
    burst = None if call.body.burst is UNSET else call.body.burst
    async with context.db.transaction() as conn:
        client = await clients.set_limits(conn, call.path["client"], rate, burst)
    await context.key_cache.refresh()
    return client


async def _studio_id(conn: Connection, call: Call[StudioFilter, None]) -> str | None:
    named = call.query.studio or call.caller.studio_id
    return (await studios.find_for(conn, call.caller, named)).id if named else None


async def _refuse_other_studios_key(context: OperatorContext, call: Call[Any, Any]) -> None:
    async with context.db.connection() as conn:
        key = await keys.get(conn, call.path["key_id"])
    if call.caller.studio_id and call.caller.studio_id != key.studio_id:
        raise NotFound


async def post_key(context: OperatorContext, call: Call[None, KeyCreate]) -> IssuedKey:
    async with context.db.connection() as conn:
        await studios.find_for(conn, call.caller, call.body.studio)
    return await issue_key(context, call.body, call.caller.request_id)


async def list_keys(context: OperatorContext, call: Call[StudioFilter, None]) -> Page[Key]:
    async with context.db.connection() as conn:
        studio_id = await _studio_id(conn, call)
        return Page(data=await keys.all_of(conn, studio_id), has_more=False, next_cursor=None)


async def get_key(context: OperatorContext, call: Call[None, None]) -> Key:
    await _refuse_other_studios_key(context, call)
    async with context.db.connection() as conn:
        return await keys.get(conn, call.path["key_id"])


async def post_rotation(context: OperatorContext, call: Call[None, KeyRotate]) -> IssuedKey:
    await _refuse_other_studios_key(context, call)
    return await rotate_key(context, call.path["key_id"], overlap=call.body.overlap)


async def post_revocation(context: OperatorContext, call: Call[None, KeyRevoke]) -> Key:
    await _refuse_other_studios_key(context, call)
    return await revoke_key(
        context,
        call.path["key_id"],
        with_endpoints=call.body.with_endpoints,
        request_id=call.caller.request_id,
    )


def _route(
    method: str, path: str, handler: object, summary: str, answer: object, **more: object
) -> Route[OperatorContext]:
    return Route(
        method=method,
        path=f"/operator/v1{path}",
        handler=handler,  # type: ignore[arg-type]
        summary=summary,
        answer=answer,
        **more,  # type: ignore[arg-type]
    )


ROUTES: list[Route[OperatorContext]] = [
    _route(
        "POST",
        "/studios",
        post_studio,
        "Create a studio",
        OperatorStudio,
        body=StudioCreate,
        status=201,
        errors=(SlugTaken, StudioExists),
    ),
    _route("GET", "/studios", list_studios, "List studios", Page[OperatorStudio], role="staff"),
    _route(
        "GET",
        "/studios/{studio}",
        get_studio,
        "Read a studio",
        OperatorStudio,
        errors=(NotFound,),
        role="staff",
    ),
    _route(
        "GET",
        "/clients",
        list_clients,
        "List clients",
        Page[Client],
        query=StudioFilter,
        errors=(NotFound,),
        role="manager",
    ),
    _route("PATCH", "/clients/{client}", patch_client, "Set a client's rate", Client, body=ClientSet),
    _route(
        "POST",
        "/keys",
        post_key,
        "Issue a key",
        IssuedKey,
        body=KeyCreate,
        status=201,
        errors=(NotFound,),
        role="manager",
    ),
    _route(
        "GET",
        "/keys",
        list_keys,
        "List keys",
        Page[Key],
        query=StudioFilter,
        errors=(NotFound,),
        role="manager",
    ),
    _route("GET", "/keys/{key_id}", get_key, "Read a key", Key, errors=(NotFound,), role="manager"),
    _route(
        "POST",
        "/keys/{key_id}/rotate",
        post_rotation,
        "Rotate a key",
        IssuedKey,
        body=KeyRotate,
        optional_body=True,
        status=201,
        errors=(KeyNotLive,),
        role="manager",
    ),
    _route(
        "POST",
        "/keys/{key_id}/revoke",
        post_revocation,
        "Revoke a key",
        Key,
        body=KeyRevoke,
        optional_body=True,
        errors=(NotFound,),
        role="manager",
    ),
]


# `GET /operator/v1/audit`: who changed what, and when.
async def list_audit(context: OperatorContext, call: Call[AuditQuery, None]) -> Page[AuditEntry]:
    query = call.query
    async with context.db.connection() as conn:
        return await audit_log.page(conn, since=query.since, cursor=query.cursor, limit=query.limit)


ROUTES += [
    Route(
        method="GET",
        path="/operator/v1/audit",
        handler=list_audit,
        summary="List what operators and staff changed",
        description="Every write through this API, oldest first. Entries are never deleted.",
        query=AuditQuery,
        answer=Page[AuditEntry],
    )
]


# `GET /operator/v1/usage`: how much each key is used.
async def list_usage(context: OperatorContext, call: Call[UsageQuery, None]) -> Page[KeyUsage]:
    query = call.query
    named = query.studio or call.caller.studio_id
    async with context.db.connection() as conn:
        studio_id = (await studios.find_for(conn, call.caller, named)).id if named else None
        return await key_usage.page(
            conn, studio_id, since=query.since, cursor=query.cursor, limit=query.limit
        )


ROUTES += [
    Route(
        method="GET",
        path="/operator/v1/usage",
        handler=list_usage,
        summary="List keys with their requests, errors and last use",
        description=(
            "Counted by the hour from the request log; a request appears within seconds. When very many "
            "arrive at once, some successful ones are not counted."
        ),
        query=UsageQuery,
        answer=Page[KeyUsage],
        errors=(NotFound,),
        role="manager",
    )
]


# A link into the partner console, created for a client by an operator or a manager.
async def post_link(context: OperatorContext, call: Call[None, ConsoleSessionCreate]) -> ConsoleSession:
    async with context.db.connection() as conn:
        key = await clients.newest_live_key(conn, call.path["client"], call.caller.studio_id or None)
    if key is None:
        raise ClientWithoutKey
    return await make_console_link(context.db, context.peppers, key, call.body, context.public_origin)


ROUTES += [
    Route(
        method="POST",
        path="/operator/v1/clients/{client}/console-sessions",
        handler=post_link,
        summary="Create a link into the partner console",
        description="The session acts for the client's newest live key. The link works once.",
        body=ConsoleSessionCreate,
        optional_body=True,
        answer=ConsoleSession,
        status=201,
        errors=(NotFound, ClientWithoutKey),
        role="manager",
    )
]


STAFF_TOKENS = "/operator/v1/studios/{studio}/staff-tokens"


# Tokens of a studio's staff. A manager issues, lists and revokes those of their own studio.
async def post_token(context: OperatorContext, call: Call[None, StaffTokenCreate]) -> IssuedStaffToken:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
    return await issue_staff_token(context, studio.id, call.body)


async def list_tokens(context: OperatorContext, call: Call[None, None]) -> Page[StaffToken]:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
        return Page(data=await staff_tokens.all_of(conn, studio.id), has_more=False, next_cursor=None)


async def post_token_revocation(context: OperatorContext, call: Call[None, None]) -> StaffToken:
    async with context.db.transaction() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
        return await staff_tokens.revoke(conn, studio.id, call.path["token_id"])


ROUTES += [
    Route(
        method="POST",
        path=STAFF_TOKENS,
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
        path=STAFF_TOKENS,
        handler=list_tokens,
        summary="List staff tokens",
        answer=Page[StaffToken],
        errors=(NotFound,),
        role="manager",
        tag="Staff tokens",
    ),
    Route(
        method="POST",
        path=f"{STAFF_TOKENS}/{{token_id}}/revoke",
        handler=post_token_revocation,
        summary="Revoke a staff token",
        description="It is refused from the next request on.",
        answer=StaffToken,
        errors=(NotFound,),
        role="manager",
        tag="Staff tokens",
    ),
]
