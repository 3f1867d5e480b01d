"""Forwards staff operations on studios and queues from `/operator/v1/…` to the owner's `/staff/…`."""

from typing import Final

from litestar.types import Receive, Scope, Send

from services.gateway.access import OperatorAccess
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from shared.errors import NotFound
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.http.error_mapping import answer_for
from shared.http.routes import MAX_BODY, read_body
from shared.http.service import send_answer, valid_request_id

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
PREFIX: Final = "/operator/v1/"
STAFF_PATHS: Final = (
    "/operator/v1/studios/{studio}/{rest:path}",
    # Queues serve every studio.
    "/operator/v1/queues",
    "/operator/v1/queues/{rest:path}",
)


class StaffForwarder:
    def __init__(self, context: OperatorContext, access: OperatorAccess) -> None:
        self._context = context
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        request_id = valid_request_id(headers.get(b"x-request-id"))
        try:
            caller = self._access.verify(headers, request_id)
            answer = await self._forward(caller, scope, receive, headers)
        except Exception as problem:
            answer = answer_for(problem, request_id)
        await send_answer(send, answer, request_id)

    async def _forward(
        self, caller: Caller, scope: Scope, receive: Receive, headers: dict[bytes, bytes]
    ) -> Answer:
        raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        rest, studio_id = raw.removeprefix(PREFIX), ""
        if rest.startswith("studios/"):
            _, studio, rest = rest.split("/", 2)
            async with self._context.db.connection() as conn:
                studio_id = (await studios.find_for(conn, caller, studio)).id
        owner = OWNERS.get(rest.partition("/")[0])
        if owner is None:
            raise NotFound
        query = scope["query_string"].decode("latin-1")
        answer = await self._context.call_service(
            owner,
            str(scope.get("method")),
            f"/staff/{rest}" + (f"?{query}" if query else ""),
            studio_id=studio_id,
            request_id=caller.request_id,
            role=caller.role,
            body=await read_body(receive, headers, MAX_BODY),
            content_type=headers.get(b"content-type", b""),
        )
        body = answer.body
        if answer.stream is not None:
            body += b"".join([part async for part in answer.stream])
        kept = tuple(header for header in answer.headers if header[0] in (b"allow", b"retry-after"))
        return Answer(body, answer.status, kept)
