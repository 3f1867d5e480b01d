"""`GET /operator/v1/export`: a studio of any size as NDJSON, sent while it is read."""

from collections.abc import AsyncIterator
from typing import Annotated

from msgspec import Meta

from services.gateway.actions.export_studio import export_member, export_studio
from services.gateway.routes.operator.plain_handler import PlainHandler, StreamedAnswer
from services.gateway.store import studios
from services.gateway.wire.studio import OperatorStudio
from shared.errors import Invalid, Problem
from shared.http.asgi import Receive, Scope
from shared.http.caller import Caller
from shared.http.decoding import decode_query
from shared.wire import Id, Query

NDJSON = b"application/x-ndjson"


class ExportOf(Query, frozen=True, kw_only=True):
    studio: Annotated[
        str | None, Meta(description="Slug or id. Optional with a staff token, which has one studio.")
    ] = None
    member_id: Annotated[Id | None, Meta(description="Export only what is stored about this person.")] = None


class ExportStream(PlainHandler):
    role = "manager"

    async def answer(self, caller: Caller, scope: Scope, receive: Receive) -> StreamedAnswer:
        query = decode_query(ExportOf, scope["query_string"])
        parts = self._parts(await self._studio(caller, query.studio), query.member_id, caller.request_id)
        return StreamedAnswer(await anext(parts), parts, NDJSON)

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
