"""Writes an audit entry for every write that reaches the operators' API.

The entry is written first, so that nothing happens without one. If the request is refused, the entry is
deleted. If the outcome is unknown, it stays.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
import structlog
from msgspec import Struct

from services.gateway.store import audit_log
from shared.db.database import Database
from shared.http.asgi import ASGIApp, Message, Receive, Scope, Send
from shared.http.caller import REQUEST_ID_HEADER, Caller
from shared.http.service import request_id_of, send_error
from shared.routing import OF_A_STUDIO, OperatorRoute

log = structlog.get_logger("audit")
# Keys in the scope's state, for a handler that knows the target or the studio better than its path does.
TARGET = "audit_target"
STUDIO = "audit_studio"
# Nothing was written, so there is nothing to tell.
ONLY_CHECKED = "audit_only_checked"


class _Made(Struct):
    id: str | None = None


class AuditTrail:
    def __init__(self, db: Database) -> None:
        self._db = db

    async def recorded(
        self, route: OperatorRoute, caller: Caller, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Calls `app`, which does the work of `route`."""
        # The entry, the response and the services' logs have the same id.
        request_id = request_id_of(scope)
        others = [header for header in scope["headers"] if header[0] != REQUEST_ID_HEADER]
        scope["headers"] = [*others, (REQUEST_ID_HEADER, request_id.encode())]
        try:
            async with self._db.connection() as conn:
                entry_id = await audit_log.add(
                    conn,
                    actor=caller.key_id or "operator",
                    action=action_of(route),
                    target=target_of(route, scope["path_params"], scope["query_string"], caller.studio_id),
                    request_id=request_id,
                    studio=caller.studio_id or studio_of(scope["path_params"], scope["query_string"]),
                )
        except Exception as problem:
            await send_error(send, problem, scope)
            return
        scope["state"] = {}
        await app(scope, receive, self._watching(send, entry_id, route, scope))

    def _watching(self, send: Send, entry_id: str, route: OperatorRoute, scope: Scope) -> Send:
        makes = action_of(route).endswith(CREATE)
        start: list[Any] = []

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Held back until the entry has the outcome.
                start.append(message)
                return
            if start:
                first = start.pop()
                body: Any = message.get("body", b"") if makes else b""
                target = scope["state"].get(TARGET) or (_id_in(body) if body else None)
                undone = 400 <= first["status"] < 500 or ONLY_CHECKED in scope["state"]
                await self._complete(entry_id, target, scope["state"].get(STUDIO), undone=undone)
                await send(first)
            await send(message)

        return watched

    async def _complete(self, entry_id: str, target: str | None, studio: str | None, *, undone: bool) -> None:
        try:
            async with self._db.connection() as conn:
                if undone:
                    await audit_log.remove(conn, entry_id)
                elif target or studio:
                    await audit_log.complete(conn, entry_id, target, studio)
        except Exception as problem:
            # The work is done and the entry exists; only its target is less precise.
            log.warning("audit_entry_not_completed", error=type(problem).__name__)


def _id_in(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Made).id
    except msgspec.DecodeError:
        return None


# The action and the target of a write in the audit log, from the route that was found and its parameters.
CREATE: Final = "create"
SUFFIXES: Final = {"PUT": "update", "PATCH": "update", "DELETE": "delete"}
# The target of a write that has none in its path, until the response names one.
NEW: Final = "new"
ALL: Final = "all"
MAX_LENGTH: Final = 200


def action_of(route: OperatorRoute) -> str:
    """`POST /studios/{studio}/classes/{class_id}/cancel` is `classes.cancel`."""
    words = [word for word in route.path.removeprefix(OF_A_STUDIO).split("/") if word and word[0] != "{"]
    if route.method in SUFFIXES:
        words.append(SUFFIXES[route.method])
    elif words[-1].endswith("s"):
        # A plural names a collection, in which something is created.
        words.append(CREATE)
    return ".".join(words)


def target_of(route: OperatorRoute, parameters: Mapping[str, str], query: bytes, own_studio: str) -> str:
    """The last parameter of the path; otherwise the studio in the query, or that of the staff token."""
    named = parameters.get(route.path.rpartition("{")[2].partition("}")[0])
    target = named or studio_of({}, query) or own_studio
    printable = "".join(letter for letter in target if letter.isprintable())
    return printable[:MAX_LENGTH] or (NEW if action_of(route).endswith(CREATE) else ALL)


def studio_of(parameters: Mapping[str, str], query: bytes) -> str:
    """In the path, or in the query; empty if neither names one."""
    return parameters.get("studio") or dict(parse_qsl(query.decode("latin-1"))).get("studio") or ""
