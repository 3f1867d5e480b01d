"""Studios, clients, keys and their use, the audit log, links into the partner console, and staff tokens."""

from typing import Any

from services.gateway.actions.issue_key import issue_key, issue_staff_token, revoke_key, rotate_key
from services.gateway.actions.open_console import make_console_link
from services.gateway.actions.read_audit import read_audit
from services.gateway.actions.studios import create_studio
from services.gateway.context import OperatorContext
from services.gateway.errors import ClientWithoutKey, KeyNotLive, SlugTaken, StudioExists
from services.gateway.routes.operator.audit_trail import STUDIO
from services.gateway.store import clients, keys, request_counts, requests, staff_tokens, studios
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
from services.gateway.wire.request import (
    AuditEntry,
    AuditQuery,
    ClientCountsQuery,
    ClientRequest,
    ClientRequestsQuery,
    KeyUsage,
    RequestCounts,
    UsageQuery,
)
from services.gateway.wire.studio import OperatorStudio, StudioCreate, StudioFilter
from shared.errors import Invalid, NotFound, Problem
from shared.http.pages import Page, whole_page
from shared.http.routes import Call, Routes
from shared.routing import OPERATOR_PREFIX

ROUTES: Routes[OperatorContext] = Routes(OPERATOR_PREFIX)


@ROUTES.add("POST", "/studios", "Create a studio", status=201, errors=(SlugTaken, StudioExists))
async def post_studio(context: OperatorContext, call: Call[None, StudioCreate]) -> OperatorStudio:
    return await create_studio(context, call.body, call.caller.request_id)


@ROUTES.add("GET", "/studios", "List studios", role="staff")
async def list_studios(context: OperatorContext, call: Call[None, None]) -> Page[OperatorStudio]:
    async with context.db.connection() as conn:
        if call.caller.studio_id:
            return whole_page([await studios.find(conn, call.caller.studio_id)])
        return whole_page(await studios.all_of(conn))


@ROUTES.add("GET", "/studios/{studio}", "Read a studio", errors=(NotFound,), role="staff")
async def get_studio(context: OperatorContext, call: Call[None, None]) -> OperatorStudio:
    async with context.db.connection() as conn:
        return await studios.find_for(conn, call.caller, call.path["studio"])


@ROUTES.add("GET", "/clients", "List clients", errors=(NotFound,), role="manager")
async def list_clients(context: OperatorContext, call: Call[StudioFilter, None]) -> Page[Client]:
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, call.query.studio)
        return whole_page(await clients.all_of(conn, studio_id))


@ROUTES.add("PATCH", "/clients/{client}", "Set a client's limits")
async def patch_client(context: OperatorContext, call: Call[None, ClientSet]) -> Client:
    async with context.db.transaction() as conn:
        client = await clients.set_limits(conn, call.path["client"], call.body)
    call.state[STUDIO] = client.studio_id
    await context.key_cache.refresh()
    return client


async def _key(context: OperatorContext, call: Call[Any, Any]) -> Key:
    """The key in the path. For staff, every other studio's key does not exist."""
    async with context.db.connection() as conn:
        key = await keys.get(conn, call.path["key_id"])
    call.state[STUDIO] = key.studio_id
    if call.caller.studio_id and call.caller.studio_id != key.studio_id:
        raise NotFound
    return key


@ROUTES.add("POST", "/keys", "Issue a key", status=201, errors=(NotFound,), role="manager")
async def post_key(context: OperatorContext, call: Call[None, KeyCreate]) -> IssuedKey:
    key = await issue_key(context, call.caller, call.body)
    call.state[STUDIO] = key.studio_id
    return key


@ROUTES.add("GET", "/keys", "List keys", errors=(NotFound,), role="manager")
async def list_keys(context: OperatorContext, call: Call[StudioFilter, None]) -> Page[Key]:
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, call.query.studio)
        return whole_page(await keys.all_of(conn, studio_id))


@ROUTES.add("GET", "/keys/{key_id}", "Read a key", errors=(NotFound,), role="manager")
async def get_key(context: OperatorContext, call: Call[None, None]) -> Key:
    return await _key(context, call)


@ROUTES.add(
    "POST",
    "/keys/{key_id}/rotate",
    "Rotate a key",
    optional_body=True,
    status=201,
    errors=(KeyNotLive,),
    role="manager",
)
async def post_rotation(context: OperatorContext, call: Call[None, KeyRotate]) -> IssuedKey:
    return await rotate_key(context, await _key(context, call), overlap=call.body.overlap)


@ROUTES.add(
    "POST", "/keys/{key_id}/revoke", "Revoke a key", optional_body=True, errors=(NotFound,), role="manager"
)
async def post_revocation(context: OperatorContext, call: Call[None, KeyRevoke]) -> Key:
    key = await _key(context, call)
    return await revoke_key(context, key.id, call.body, call.caller.request_id)


@ROUTES.add("GET", "/audit", "List what operators and staff changed", errors=(NotFound,), role="manager")
async def list_audit(context: OperatorContext, call: Call[AuditQuery, None]) -> Page[AuditEntry]:
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, call.query.studio)
    return await read_audit(context, studio_id, call.query, call.caller.request_id)


NO_CLIENT = Problem(("query", "client"), "Name the client.", "missing")


@ROUTES.add(
    "GET", "/requests", "List a client's requests of the last seven days", errors=(NotFound,), role="manager"
)
async def list_requests(
    context: OperatorContext, call: Call[ClientRequestsQuery, None]
) -> Page[ClientRequest]:
    query = call.query
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, query.studio)
        if query.client is None and query.request_id is None:
            raise Invalid([NO_CLIENT])
        client_id = await clients.find(conn, query.client, studio_id) if query.client else None
        return await requests.client_page(conn, studio_id, client_id, query)


@ROUTES.add(
    "GET",
    "/requests/counts",
    "Count a client's requests by status over a window",
    errors=(NotFound,),
    role="manager",
)
async def get_counts(context: OperatorContext, call: Call[ClientCountsQuery, None]) -> RequestCounts:
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, call.query.studio)
        if call.query.client is None:
            raise Invalid([NO_CLIENT])
        client_id = await clients.find(conn, call.query.client, studio_id)
        return await request_counts.counts(conn, client_id, call.query)


@ROUTES.add(
    "GET",
    "/usage",
    "List keys with their requests, errors and last use",
    description=(
        "Counted by the hour from the request log; a request appears within seconds. When very many "
        "arrive at once, some successful ones are not counted."
    ),
    errors=(NotFound,),
    role="manager",
)
async def list_usage(context: OperatorContext, call: Call[UsageQuery, None]) -> Page[KeyUsage]:
    async with context.db.connection() as conn:
        studio_id = await studios.named_by(conn, call.caller, call.query.studio)
        return await requests.usage_page(conn, studio_id, call.query)


@ROUTES.add(
    "POST",
    "/clients/{client}/console-sessions",
    "Create a link into the partner console",
    description="The session acts for the client's newest live key. The link works once.",
    optional_body=True,
    status=201,
    errors=(NotFound, ClientWithoutKey),
    role="manager",
)
async def post_link(context: OperatorContext, call: Call[None, ConsoleSessionCreate]) -> ConsoleSession:
    async with context.db.connection() as conn:
        key = await clients.newest_live_key(conn, call.path["client"], call.caller.studio_id or None)
    if key is None:
        raise ClientWithoutKey
    call.state[STUDIO] = key.studio_id
    return await make_console_link(context.db, context.peppers, key, call.body, context.public_origin)


# Tokens of a studio's staff. A manager issues, lists and revokes those of their own studio.
STAFF_TOKENS = "/studios/{studio}/staff-tokens"


@ROUTES.add(
    "POST",
    STAFF_TOKENS,
    "Issue a staff token",
    description="For one studio, with the role `staff` or `manager`. The token is shown only once.",
    status=201,
    errors=(NotFound,),
    role="manager",
    tag="Staff tokens",
)
async def post_token(context: OperatorContext, call: Call[None, StaffTokenCreate]) -> IssuedStaffToken:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
    return await issue_staff_token(context, studio.id, call.body)


@ROUTES.add("GET", STAFF_TOKENS, "List staff tokens", errors=(NotFound,), role="manager", tag="Staff tokens")
async def list_tokens(context: OperatorContext, call: Call[None, None]) -> Page[StaffToken]:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
        return whole_page(await staff_tokens.all_of(conn, studio.id))


@ROUTES.add(
    "POST",
    STAFF_TOKENS + "/{token_id}/revoke",
    "Revoke a staff token",
    description="It is refused from the next request on.",
    errors=(NotFound,),
    role="manager",
    tag="Staff tokens",
)
async def post_token_revocation(context: OperatorContext, call: Call[None, None]) -> StaffToken:
    async with context.db.transaction() as conn:
        studio = await studios.find_for(conn, call.caller, call.path["studio"])
        return await staff_tokens.revoke(conn, studio.id, call.path["token_id"])
