"""A link into the partner console, created for a client by an operator or a manager."""

from services.gateway.actions.open_console import make_console_link
from services.gateway.context import OperatorContext
from services.gateway.errors import ClientWithoutKey
from services.gateway.store import clients
from services.gateway.wire.key import ConsoleSession, ConsoleSessionCreate
from shared.errors import NotFound
from shared.http.routes import Call, Route


async def post_link(context: OperatorContext, call: Call[None, ConsoleSessionCreate]) -> ConsoleSession:
    async with context.db.connection() as conn:
        key = await clients.newest_live_key(conn, call.path["client"], call.caller.studio_id or None)
    if key is None:
        raise ClientWithoutKey
    return await make_console_link(context.db, context.peppers, key, call.body, context.public_origin)


ROUTES: list[Route[OperatorContext]] = [
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
