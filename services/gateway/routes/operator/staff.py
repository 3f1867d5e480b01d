"""Forwards an operators' route of a service from `/operator/v1/…` to the owner's `/staff/…`."""

from typing import Final
from urllib.parse import unquote

from services.gateway.access import OperatorAccess
from services.gateway.actions.check_references import check_references
from services.gateway.context import OperatorContext
from services.gateway.routes.operator.plain_handler import PlainHandler
from services.gateway.store import studios
from shared.http.answer import Answer
from shared.http.asgi import Receive, Scope
from shared.http.caller import Caller
from shared.http.routes import MAX_BODY, read_body
from shared.routing import OPERATOR_PREFIX

# Their bodies name what the catalog has.
REFERRING: Final = frozenset({"classes", "purchases"})


class StaffForwarder(PlainHandler):
    def __init__(self, context: OperatorContext, access: OperatorAccess, owner: str) -> None:
        super().__init__(context, access)
        self._owner = owner

    async def answer(self, caller: Caller, scope: Scope, receive: Receive) -> Answer:
        headers = dict(scope["headers"])
        below, studio_id = scope["raw_path"].decode("latin-1").removeprefix(OPERATOR_PREFIX), ""
        if (studio := scope["path_params"].get("studio")) is not None:
            below = "/" + below.split("/", 3)[3]
            async with self._context.db.connection() as conn:
                studio_id = (await studios.find_for(conn, caller, studio)).id
        body = await read_body(receive, headers, MAX_BODY)
        noun = unquote(below).split("/", 2)[1]
        if scope.get("method") in ("POST", "PATCH") and noun in REFERRING:
            await check_references(self._context, caller.request_id, studio_id, body)
        query = scope["query_string"].decode("latin-1")
        answer = await self._context.call_service(
            self._owner,
            str(scope.get("method")),
            f"/staff{below}" + (f"?{query}" if query else ""),
            studio_id=studio_id,
            request_id=caller.request_id,
            role=caller.role,
            body=body,
            content_type=headers.get(b"content-type", b""),
        )
        answered = answer.body
        if answer.stream is not None:
            answered += b"".join([part async for part in answer.stream])
        kept = tuple(header for header in answer.headers if header[0] in (b"allow", b"retry-after"))
        return Answer(answered, answer.status, kept)
