"""Writes an audit entry for every write that reaches the operators' API.

The entry is written first, so that nothing happens without one. If the request is refused, the entry is
deleted. If the outcome is unknown, it stays.
"""

from typing import Any

import msgspec
import structlog
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from msgspec import Struct

from services.gateway.access import OperatorAccess
from services.gateway.rules.audit_action import action_and_target, is_write
from services.gateway.store import audit_log
from shared.db.database import Database
from shared.http.caller import REQUEST_ID_HEADER
from shared.http.error_mapping import answer_for
from shared.http.service import request_id_of, send_answer

log = structlog.get_logger("audit")


class _Made(Struct):
    id: str | None = None


class AuditTrail:
    def __init__(self, app: ASGIApp, db: Database, access: OperatorAccess) -> None:
        self._app = app
        self._db = db
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = str(scope.get("method")), scope["path"]
        caller = self._access.recognised() if is_write(method, path) else None
        if caller is None:
            await self._app(scope, receive, send)
            return
        # The entry, the answer and the services' logs have the same id.
        request_id = request_id_of(scope)
        others = [header for header in scope["headers"] if header[0] != REQUEST_ID_HEADER]
        scope["headers"] = [*others, (REQUEST_ID_HEADER, request_id.encode())]
        action, target = action_and_target(method, path, scope["query_string"])
        try:
            async with self._db.connection() as conn:
                entry_id = await audit_log.add(
                    conn,
                    actor=caller.key_id or "operator",
                    action=action,
                    target=target,
                    request_id=request_id,
                )
        except Exception as problem:
            await send_answer(send, answer_for(problem, request_id), request_id)
            return
        await self._app(scope, receive, self._watching(send, entry_id, made=action.endswith(".create")))

    def _watching(self, send: Send, entry_id: str, *, made: bool) -> Send:
        start: list[Any] = []

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Held back until the entry has the outcome.
                start.append(message)
                return
            if start:
                first = start.pop()
                body: Any = message.get("body", b"") if made else b""
                await self._complete(entry_id, first["status"], body)
                await send(first)
            await send(message)

        return watched

    async def _complete(self, entry_id: str, status: int, body: bytes) -> None:
        try:
            async with self._db.connection() as conn:
                if 400 <= status < 500:
                    await audit_log.remove(conn, entry_id)
                elif body and (made := _id_in(body)):
                    await audit_log.set_target(conn, entry_id, made)
        except Exception as problem:
            # The work is done and the entry exists; only its target is less precise.
            log.warning("audit_entry_not_completed", error=type(problem).__name__)


def _id_in(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Made).id
    except msgspec.DecodeError:
        return None
