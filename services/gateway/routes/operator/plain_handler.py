"""The frame of plain ASGI handlers in the operators' API, for what the route layer cannot buffer or route."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import ClassVar, Final
from urllib.parse import unquote

from msgspec import Struct

from services.gateway.access import OperatorAccess
from services.gateway.actions.check_references import check_references
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from shared.http.answer import Answer
from shared.http.asgi import Receive, Scope, Send
from shared.http.caller import Caller, Role, require_role
from shared.http.error_mapping import answer_for
from shared.http.routes import MAX_BODY, read_body
from shared.http.service import answer_headers, send_answer, valid_request_id
from shared.routing import OPERATOR_PREFIX


class StreamedAnswer(Struct):
    """An answer that is sent while it is read. A failure before `first` is an ordinary error."""

    first: bytes
    rest: AsyncIterator[bytes]
    content_type: bytes


class PlainHandler(ABC):
    """`role` is required if it is set."""

    role: ClassVar[Role | None] = None

    def __init__(self, context: OperatorContext, access: OperatorAccess) -> None:
        self._context = context
        self._access = access

    @abstractmethod
    async def answer(self, caller: Caller, scope: Scope, receive: Receive) -> Answer | StreamedAnswer: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        request_id = valid_request_id(headers.get(b"x-request-id"))
        answer: Answer | StreamedAnswer
        try:
            caller = self._access.verify(headers, request_id)
            if self.role is not None:
                require_role(caller.role, self.role)
            answer = await self.answer(caller, scope, receive)
        except Exception as problem:
            answer = answer_for(problem, request_id)
        if isinstance(answer, StreamedAnswer):
            await _stream(send, answer, request_id)
        else:
            await send_answer(send, answer, request_id)


async def _stream(send: Send, answer: StreamedAnswer, request_id: str) -> None:
    """A failure ends the connection before the last chunk, so that the client notices it."""
    head = answer_headers(Answer(b"", content_type=answer.content_type), 0, request_id)
    sent = [header for header in head if header[0] != b"content-length"]
    await send({"type": "http.response.start", "status": 200, "headers": sent})
    await send({"type": "http.response.body", "body": answer.first, "more_body": True})
    async for part in answer.rest:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


# Their bodies name what the catalog has.
REFERRING: Final = frozenset({"classes", "purchases"})


class StaffForwarder(PlainHandler):
    """Forwards an operators' route of a service from `/operator/v1/…` to the owner's `/staff/…`."""

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
