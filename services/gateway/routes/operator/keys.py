"""Studios, clients and keys."""

from typing import Any

from msgspec import UNSET

from services.gateway.actions.create_studio import create_studio
from services.gateway.actions.issue_key import issue_key
from services.gateway.actions.revoke_key import revoke_key
from services.gateway.actions.rotate_key import rotate_key
from services.gateway.context import OperatorContext
from services.gateway.errors import KeyNotLive, SlugTaken, StudioExists
from services.gateway.store import clients, keys, studios
from services.gateway.wire.key import Client, ClientSet, IssuedKey, Key, KeyCreate, KeyRevoke, KeyRotate
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
