"""The operators' routes that a service answers: forwarded from `/operator/v1/…` to the owner's `/staff/…`."""

from typing import Final
from urllib.parse import unquote

from services.gateway.actions.check_references import check_references
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from shared.http.asgi import Receive, Scope
from shared.http.caller import Caller
from shared.http.response import Response
from shared.http.routes import MAX_BODY, read_body
from shared.routing import OPERATOR_PREFIX, OperatorRoute

# Their bodies name what the catalog has.
REFERRING: Final = frozenset({"classes", "purchases"})


class StaffForwarder:
    """The owner checks the role, the path, the query and the body."""

    tagged = False

    def __init__(self, route: OperatorRoute) -> None:
        self.method = route.method
        self.path = OPERATOR_PREFIX + route.path
        self._owner = route.owner

    async def respond(
        self, context: OperatorContext, caller: Caller, scope: Scope, receive: Receive
    ) -> Response:
        headers = dict(scope["headers"])
        below, studio_id = scope["raw_path"].decode("latin-1").removeprefix(OPERATOR_PREFIX), ""
        if (studio := scope["path_params"].get("studio")) is not None:
            below = "/" + below.split("/", 3)[3]
            async with context.db.connection() as conn:
                studio_id = (await studios.find_for(conn, caller, studio)).id
        body = await read_body(receive, headers, MAX_BODY)
        noun = unquote(below).split("/", 2)[1]
        if self.method in ("POST", "PATCH") and noun in REFERRING:
            await check_references(context, caller.request_id, studio_id, body)
        query = scope["query_string"].decode("latin-1")
        response = await context.call_service(
            self._owner,
            self.method,
            f"/staff{below}" + (f"?{query}" if query else ""),
            studio_id=studio_id,
            request_id=caller.request_id,
            role=caller.role,
            body=body,
            content_type=headers.get(b"content-type", b""),
        )
        kept = tuple(header for header in response.headers if header[0] in (b"allow", b"retry-after"))
        return Response(response.body, response.status, kept)
