"""Studios, clients and keys."""

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
from shared.errors import NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route


async def post_studio(context: OperatorContext, call: Call[None, StudioCreate]) -> OperatorStudio:
    return await create_studio(context, call.body, call.caller.request_id)


async def list_studios(context: OperatorContext, call: Call[None, None]) -> Page[OperatorStudio]:
    async with context.db.connection() as conn:
        return Page(data=await studios.all_of(conn), has_more=False, next_cursor=None)


async def get_studio(context: OperatorContext, call: Call[None, None]) -> OperatorStudio:
    async with context.db.connection() as conn:
        return await studios.find(conn, call.path["studio"])


async def list_clients(context: OperatorContext, call: Call[StudioFilter, None]) -> Page[Client]:
    async with context.db.connection() as conn:
        studio_id = (await studios.find(conn, call.query.studio)).id if call.query.studio else None
        return Page(data=await clients.all_of(conn, studio_id), has_more=False, next_cursor=None)


async def patch_client(context: OperatorContext, call: Call[None, ClientSet]) -> Client:
    rate = None if call.body.rate is UNSET else call.body.rate
    burst = None if call.body.burst is UNSET else call.body.burst
    async with context.db.transaction() as conn:
        client = await clients.set_limits(conn, call.path["client"], rate, burst)
    await context.key_cache.refresh()
    return client


async def post_key(context: OperatorContext, call: Call[None, KeyCreate]) -> IssuedKey:
    return await issue_key(context, call.body, call.caller.request_id)


async def list_keys(context: OperatorContext, call: Call[StudioFilter, None]) -> Page[Key]:
    async with context.db.connection() as conn:
        studio_id = (await studios.find(conn, call.query.studio)).id if call.query.studio else None
        return Page(data=await keys.all_of(conn, studio_id), has_more=False, next_cursor=None)


async def get_key(context: OperatorContext, call: Call[None, None]) -> Key:
    async with context.db.connection() as conn:
        return await keys.get(conn, call.path["key_id"])


async def post_rotation(context: OperatorContext, call: Call[None, KeyRotate]) -> IssuedKey:
    return await rotate_key(context, call.path["key_id"], overlap=call.body.overlap)


async def post_revocation(context: OperatorContext, call: Call[None, KeyRevoke]) -> Key:
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
    _route("GET", "/studios", list_studios, "List studios", Page[OperatorStudio]),
    _route("GET", "/studios/{studio}", get_studio, "Read a studio", OperatorStudio, errors=(NotFound,)),
    _route("GET", "/clients", list_clients, "List clients", Page[Client], query=StudioFilter),
    _route("PATCH", "/clients/{client}", patch_client, "Set a client's rate", Client, body=ClientSet),
    _route("POST", "/keys", post_key, "Issue a key", IssuedKey, body=KeyCreate, status=201),
    _route("GET", "/keys", list_keys, "List keys", Page[Key], query=StudioFilter),
    _route("GET", "/keys/{key_id}", get_key, "Read a key", Key, errors=(NotFound,)),
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
    ),
]
