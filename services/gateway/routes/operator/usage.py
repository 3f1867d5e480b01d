"""`GET /operator/v1/usage`: how much each key is used."""

from services.gateway.context import OperatorContext
from services.gateway.store import key_usage, studios
from services.gateway.wire.usage import KeyUsage, UsageQuery
from shared.errors import NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route


async def list_usage(context: OperatorContext, call: Call[UsageQuery, None]) -> Page[KeyUsage]:
    query = call.query
    named = query.studio or call.caller.studio_id
    async with context.db.connection() as conn:
        studio_id = (await studios.find_for(conn, call.caller, named)).id if named else None
        return await key_usage.page(
            conn, studio_id, since=query.since, cursor=query.cursor, limit=query.limit
        )


ROUTES: list[Route[OperatorContext]] = [
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
