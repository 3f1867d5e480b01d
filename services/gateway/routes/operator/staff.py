"""Forwards staff operations on studios and queues from `/operator/v1/…` to the owner's `/staff/…`."""

from typing import Final

from litestar.types import Receive, Scope

from services.gateway.actions.check_references import check_references
from services.gateway.routes.operator.plain_handler import PlainHandler
from services.gateway.store import studios
from shared.errors import NotFound
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.http.routes import MAX_BODY, read_body

# The owner, by the first segment of the path.
OWNERS: Final[dict[str, str]] = {
    "classes": "bookings",
    "class-spots": "bookings",
    "bookings": "bookings",
    "waitlist": "bookings",
    "members": "bookings",
    "memberships": "bookings",
    "purchases": "bookings",
    "policy": "bookings",
    "forms": "forms",
    "form-submissions": "forms",
    "leads": "forms",
    "webhook-endpoints": "webhooks",
    "webhook-deliveries": "webhooks",
    "events": "webhooks",
    "queues": "webhooks",
}
# Their bodies name what the catalog has.
REFERRING: Final = frozenset({"classes", "purchases"})
PREFIX: Final = "/operator/v1/"
STAFF_PATHS: Final = (
    "/operator/v1/studios/{studio}/{rest:path}",
    # Queues serve every studio.
    "/operator/v1/queues",
    "/operator/v1/queues/{rest:path}",
)


class StaffForwarder(PlainHandler):
    async def answer(self, caller: Caller, scope: Scope, receive: Receive) -> Answer:
        headers = dict(scope["headers"])
        raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        rest, studio_id = raw.removeprefix(PREFIX), ""
        if rest.startswith("studios/"):
            _, studio, rest = rest.split("/", 2)
            async with self._context.db.connection() as conn:
                studio_id = (await studios.find_for(conn, caller, studio)).id
        owner = OWNERS.get(rest.partition("/")[0])
        if owner is None:
            raise NotFound
        body = await read_body(receive, headers, MAX_BODY)
        if scope.get("method") in ("POST", "PATCH") and rest.partition("/")[0] in REFERRING:
            await check_references(self._context, caller.request_id, studio_id, body)
        query = scope["query_string"].decode("latin-1")
        answer = await self._context.call_service(
            owner,
            str(scope.get("method")),
            f"/staff/{rest}" + (f"?{query}" if query else ""),
            studio_id=studio_id,
            request_id=caller.request_id,
            role=caller.role,
            body=body,
            content_type=headers.get(b"content-type", b""),
        )
        kept = tuple(header for header in answer.headers if header[0] in (b"allow", b"retry-after"))
        return Answer(await answer.whole_body(), answer.status, kept)
