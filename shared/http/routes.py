"""A thin typed layer on ASGI: decode with msgspec, call once, encode.

The contract wants its own errors, with every problem of a request. The OpenAPI documents are made from the
same `Route` values.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import NoneType
from typing import Any, Generic, TypeVar, cast, get_args, get_type_hints

from msgspec import Struct, structs

from shared.background import Wakeup
from shared.errors import (
    BodyTooLarge,
    DomainError,
    InsufficientScope,
    Invalid,
    NotFound,
    Problem,
    UnsupportedMediaType,
)
from shared.http.asgi import Receive
from shared.http.caller import Caller, Role, require_role
from shared.http.decoding import decode_query, path_id, read_body_as
from shared.http.idempotency.once import Written, canonical, idempotent_request, once
from shared.http.pages import MAX_PAGE_BYTES, Page, short_page
from shared.http.response import Response
from shared.http.waiting import STOPPING, Stopping
from shared.wire import PageQuery, Query, encode

MAX_BODY = 256 * 1024
BODY_TIMEOUT = 10.0
IDEMPOTENCY_HEADER = b"idempotency-key"
MIN_KEY_LENGTH = 8
MAX_KEY_LENGTH = 120
_KEY_LENGTHS = f"{MIN_KEY_LENGTH} to {MAX_KEY_LENGTH}"
BROKEN = "json_invalid"

C = TypeVar("C")
Q = TypeVar("Q")
B = TypeVar("B")
H = TypeVar("H", bound=Callable[..., Awaitable[Any]])


class NoQuery(Query, frozen=True):
    """For routes without query parameters."""


class Call(Struct, Generic[Q, B]):
    """One request, decoded."""

    caller: Caller
    path: dict[str, str]
    query: Q
    body: B
    headers: Mapping[bytes, bytes]
    # For a handler that reads the body itself.
    receive: Receive
    # What the layers around the handler are told, such as the target of an audit entry.
    state: dict[str, Any]
    raw_body: bytes = b""
    raw_query: bytes = b""
    idempotency_key: str = ""
    # Set once the process is being stopped.
    stopping: Stopping | None = None


class PartialBody(Struct, frozen=True):
    """The valid fields of a body in which others may have problems, and the body as it was received."""

    fields: Mapping[str, Any]
    raw: bytes


class Route(Struct, Generic[C], frozen=True, kw_only=True):
    """An operation of a service, with its description for the OpenAPI document."""

    method: str
    path: str
    handler: Callable[[C, Call[Any, Any]], Awaitable[Any]]
    summary: str
    response: Any
    description: str = ""
    query: type[Query] = NoQuery
    body: Any = None
    optional_body: bool = False
    status: int = 200
    # A partner's write takes an Idempotency-Key. These need one; one that `reads` ignores it.
    idempotent: bool = False
    reads: bool = False
    # The handler claims the key itself, to write in batches.
    claims_key: bool = False
    # Raises if the caller may not see the stored response to a write that it repeats.
    may_repeat: Callable[[C, Call[Any, Any], bytes], Awaitable[None]] | None = None
    # The handler stores what the body's types do not name, so that it tells two requests apart.
    keeps_unknown: bool = False
    # The field with a secret, which a repeated write shows as null.
    shown_once: str = ""
    staff: bool = False
    # The lowest role that may call an operators' route. By default no staff token may.
    role: Role = "operator"
    internal: bool = False
    max_body: int = MAX_BODY
    # Whether a partner's GET carries an ETag. A response that tells the present instant never comes twice.
    tagged: bool = True
    # Scopes that a partner's key needs besides the one in the routing table.
    also_needs: tuple[str, ...] = ()
    # Checks permissions before the query is decoded. Gets the raw query, for parameters that need a scope.
    guard: Callable[[Caller, bytes], None] | None = None
    # Problems of a body beyond its types, reported together with those of the types.
    check: Callable[[C, Caller, PartialBody], Awaitable[list[Problem]]] | None = None
    errors: tuple[type[DomainError], ...] = ()
    tag: str = ""

    @property
    def repeatable(self) -> bool:
        return self.method != "GET" and not (self.reads or self.staff or self.internal)

    def for_staff(self, role: Role = "staff") -> "Route[C]":
        """The same route for staff, who see every location of their studio."""
        return structs.replace(self, path=f"/staff{self.path}", staff=True, role=role)

    async def respond(
        self, context: C, caller: Caller, scope: Mapping[str, Any], receive: Receive
    ) -> Response:
        if (self.staff or self.internal) and caller.actor != "operator":
            raise NotFound
        if caller.actor == "operator":
            require_role(caller.role, self.role)
        for scope_name in self.also_needs:
            if caller.actor == "client" and scope_name not in caller.scopes:
                raise InsufficientScope(scope_name, caller.scopes)
        if self.guard is not None:
            self.guard(caller, scope["query_string"])
        call: Call[Any, Any] = Call(
            caller=caller,
            path={},
            query=None,
            body=None,
            headers=dict(scope["headers"]),
            receive=receive,
            state=scope.get("state", {}),
            raw_query=scope["query_string"],
            stopping=scope.get(STOPPING),
        )
        problems = self._read_head(call, scope["path_params"])
        fields: Mapping[str, Any] | None = None
        if self.body is not None:
            fields = await self._read_body(call, receive, problems)
        if problems:
            problems += await self._check(context, call, fields)
            raise Invalid([problem for problem in problems if problem.type == BROKEN][:1] or problems)
        if call.idempotency_key and not self.claims_key:
            return await self._respond_once(context, call, fields)
        return (await self._write(context, call, fields)).response

    async def _write(self, context: C, call: Call[Any, Any], fields: Mapping[str, Any] | None) -> Written:
        if problems := await self._check(context, call, fields):
            raise Invalid(problems)
        result = await self.handler(context, call)
        if isinstance(result, Response):
            return Written(result, None)
        body = b"" if result is None else encode(result)
        if len(body) > MAX_PAGE_BYTES and isinstance(result, Page) and issubclass(self.query, PageQuery):
            body = encode(short_page(result))
        return Written(Response(body, self.status), _deleted(self, call) or _resource_id(result))

    async def _respond_once(
        self, context: Any, call: Call[Any, Any], fields: Mapping[str, Any] | None
    ) -> Response:
        async def may_repeat(stored: bytes) -> None:
            if self.may_repeat is not None:
                await self.may_repeat(context, call, stored)

        unknown = canonical(call.raw_body) if self.keeps_unknown else b""
        parts = (call.path, call.query, call.body, unknown)
        response = await once(
            context.db,
            call.caller,
            idempotent_request(call.idempotency_key, self.method, self.path, *parts),
            partial(self._write, context, call, fields),
            may_repeat=may_repeat,
            resource_id=_deleted(self, call),
            shown_once=self.shown_once,
        )
        # The handler has woken them before the commit.
        for name in context.__struct_fields__:
            if isinstance(wakeup := getattr(context, name), Wakeup):
                wakeup.notify()
        return response

    def _read_head(self, call: Call[Any, Any], path: Mapping[str, str]) -> list[Problem]:
        problems: list[Problem] = []
        for name, text in path.items():
            try:
                call.path[name] = _path_value(name, text)
            except Invalid as refused:
                problems += refused.problems
        try:
            if self.query is not NoQuery:
                call.query = decode_query(self.query, call.raw_query)
        except Invalid as refused:
            problems += refused.problems
        try:
            takes_key = self.repeatable and call.caller.actor == "client"
            if takes_key and (self.idempotent or IDEMPOTENCY_HEADER in call.headers):
                call.idempotency_key = idempotency_key(call.headers)
        except Invalid as refused:
            problems += refused.problems
        return problems

    async def _read_body(
        self, call: Call[Any, Any], receive: Receive, problems: list[Problem]
    ) -> Mapping[str, Any] | None:
        """The valid fields, if any."""
        raw = call.raw_body = await read_body(receive, call.headers, self.max_body)
        if self.optional_body and not raw:
            call.body = self.body()
            return None
        try:
            read = read_body_as(self.body, checked_json(raw, call.headers), check_limits=not self.internal)
        except Invalid as refused:
            problems += refused.problems
            return None
        problems += read.problems
        call.body = read.body
        if self.check is not None and isinstance(read.body, Struct):
            return structs.asdict(read.body)
        return read.valid_fields

    async def _check(
        self, context: C, call: Call[Any, Any], fields: Mapping[str, Any] | None
    ) -> list[Problem]:
        """Problems beyond the types: they depend on what is stored, so a repeated write is not checked."""
        if self.check is None or fields is None:
            return []
        return await self.check(context, call.caller, PartialBody(fields, call.raw_body))


def _deleted(route: Route[Any], call: Call[Any, Any]) -> str | None:
    return next(reversed(call.path.values())) if route.method == "DELETE" else None


def _resource_id(result: Any) -> str | None:
    """What was written, or what that belongs to: a move belongs to its booking."""
    return getattr(result, "resource_id", None) or getattr(result, "id", None)


class Routes(list[Route[C]]):
    """The routes of a file. `add` reads query, body and response from the types of the decorated handler."""

    def __init__(self, prefix: str = "", **common: Any) -> None:
        super().__init__()
        self._prefix = prefix
        self._common = common

    def add(self, method: str, path: str, summary: str, **more: Any) -> Callable[[H], H]:
        """`more` are fields of `Route`, also those that the types do not tell."""

        def register(handler: H) -> H:
            types = get_type_hints(handler)
            query, body = get_args(types["call"])
            told: dict[str, Any] = self._common | {
                "query": NoQuery if query is NoneType else query,
                "body": None if body is NoneType else body,
                "response": types["return"],
            }
            place = self._prefix + path
            self.append(Route(method=method, path=place, handler=handler, summary=summary, **told | more))
            return handler

        return register


def _path_value(name: str, text: str) -> str:
    if name.endswith("_id"):
        return path_id(name, text)
    if name == "key":
        return checked_key(text, ("path", name))
    if "\x00" in text or not text.isprintable():
        raise Invalid([Problem(("path", name), "Text must be printable.", "value_error")])
    return text


def checked_key(text: str, loc: tuple[str, str]) -> str:
    """An Idempotency-Key, in the header or in a path."""
    if not MIN_KEY_LENGTH <= len(text) <= MAX_KEY_LENGTH or not (text.isascii() and text.isprintable()):
        sentence = f"An Idempotency-Key has {_KEY_LENGTHS} printable ASCII characters."
        raise Invalid([Problem(loc, sentence, "value_error")])
    return text


def idempotency_key(headers: Mapping[bytes, bytes]) -> str:
    raw = headers.get(IDEMPOTENCY_HEADER)
    loc = ("header", IDEMPOTENCY_HEADER.decode())
    if raw is None:
        raise Invalid([Problem(loc, f"Send an Idempotency-Key of {_KEY_LENGTHS} characters.", "missing")])
    return checked_key(raw.decode("latin-1"), loc)


async def read_body(
    receive: Receive, headers: Mapping[bytes, bytes], limit: int, *, seconds: float = BODY_TIMEOUT
) -> bytes:
    """Refuses a body that comes too late. With a plain timer: `asyncio.timeout` takes twice as long."""
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    too_late: list[bool] = []
    timer = asyncio.get_running_loop().call_later(seconds, lambda: too_late.append(task.cancel()))
    try:
        return await _whole_body(receive, headers, limit)
    except asyncio.CancelledError:
        if too_late and not task.uncancel():
            text = f"The body did not arrive within {seconds:.0f} s."
            raise Invalid([Problem(("body",), text, BROKEN)]) from None
        raise
    finally:
        timer.cancel()


async def _whole_body(receive: Receive, headers: Mapping[bytes, bytes], limit: int) -> bytes:
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > limit:
        raise BodyTooLarge(f"The body is larger than {limit // 1024} KiB.")
    parts: list[bytes] = []
    size = 0
    while True:
        message: Any = await receive()
        if message["type"] != "http.request":
            # The first message too: if nothing arrived, the body was cut short. It is not empty.
            raise Invalid([Problem(("body",), "The body ended early.", BROKEN)])
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise BodyTooLarge(f"The body is larger than {limit // 1024} KiB.")
        if not message.get("more_body"):
            return b"".join([*parts, part]) if parts else part
        parts.append(part)


def checked_json(body: bytes, headers: Mapping[bytes, bytes]) -> bytes:
    kind = headers.get(b"content-type", b"").split(b";", 1)[0].strip().lower()
    is_json = kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))
    if not is_json and (body or kind):
        raise UnsupportedMediaType
    if not body:
        raise Invalid([Problem(("body",), "A JSON body is required.", "missing")])
    return body
