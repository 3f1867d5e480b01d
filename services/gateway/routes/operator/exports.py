"""`GET /operator/v1/export`: a studio of any size as NDJSON, sent while it is read."""

from collections.abc import AsyncIterator
from typing import Annotated

from litestar.types import Receive, Scope, Send
from msgspec import Meta

from services.gateway.access import OperatorAccess
from services.gateway.actions.export_studio import export_member, export_studio
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.wire.studio import OperatorStudio
from shared.errors import Invalid, MethodNotAllowed, Problem
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.http.decoding import decode_query
from shared.http.error_mapping import answer_for
from shared.http.roles import require_role
from shared.http.service import answer_headers, send_answer, valid_request_id
from shared.wire import Id, Query

NDJSON = b"application/x-ndjson"


class ExportOf(Query, frozen=True, kw_only=True):
    studio: Annotated[
        str | None, Meta(description="Slug or id. Optional with a staff token, which has one studio.")
    ] = None
    member_id: Annotated[Id | None, Meta(description="Export only what is stored about this person.")] = None


class ExportStream:
    """A plain ASGI handler, because the answer is too large for the route layer to buffer."""

    def __init__(self, context: OperatorContext, access: OperatorAccess) -> None:
        self._context = context
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        request_id = valid_request_id(headers.get(b"x-request-id"))
        try:
            if scope.get("method") != "GET":
                raise MethodNotAllowed(["GET"])
            caller = self._access.verify(headers, request_id)
            require_role(caller.role, "manager")
            query = decode_query(ExportOf, scope["query_string"])
            parts = self._parts(await self._studio(caller, query.studio), query.member_id, request_id)
            # A failure before the first part is an ordinary error.
            first = await anext(parts)
        except Exception as problem:
            await send_answer(send, answer_for(problem, request_id), request_id)
            return
        answer = Answer(b"", content_type=NDJSON)
        sent = [header for header in answer_headers(answer, 0, request_id) if header[0] != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": sent})
        await send({"type": "http.response.body", "body": first, "more_body": True})
        # A failure from here on ends the connection before the last chunk, so that the client notices it.
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _parts(self, studio: OperatorStudio, member_id: str | None, request_id: str) -> AsyncIterator[bytes]:
        if member_id is None:
            return export_studio(self._context, studio, request_id)
        return export_member(self._context, studio, member_id, request_id)

    async def _studio(self, caller: Caller, named: str | None) -> OperatorStudio:
        named = named or caller.studio_id
        if not named:
            raise Invalid([Problem(("query", "studio"), "Name the studio to export.", "missing")])
        async with self._context.db.connection() as conn:
            return await studios.find_for(conn, caller, named)
