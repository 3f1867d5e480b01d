"""One call from its arguments to its result: retries, errors and the cache, without input or output.

`exchange` is a generator. It yields a `Request` to send, or seconds to sleep, and is sent the `Response`. The blocking
and the asynchronous client differ only in how they do what it yields.
"""

import math
import random
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import quote, urlencode

import msgspec

from ._errors import ApiError, ConnectionFailed, SecretLost
from ._values import UNSET
from .errors import BY_CODE

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

RETRIED: Final = frozenset({429, 503, 504})
# The first attempt is still running, so its outcome is unknown.
STILL_RUNNING: Final = "idempotency_in_progress"
FIRST_DELAY, LONGEST_DELAY = 0.25, 8.0
# Whoever is told to come back later than this is told so, instead of being held.
LONGEST_RETRY_AFTER: Final = 60.0
DAY: Final = 86_400.0
CACHED_BYTES: Final = 16 * 1024 * 1024


class Headers(Protocol):
    """Names in lower case."""

    def get(self, name: str, /) -> str | None: ...


class Request(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None
    # None: the client's.
    timeout: float | None


class Response(NamedTuple):
    status: int
    headers: Headers
    body: bytes


Outcome: TypeAlias = Response | ConnectionFailed | None
Exchange: TypeAlias = Generator[Request | float, Outcome, T]


class Operation(Generic[T_co]):
    """What is always the same for an operation. `writes`: it has an effect, so every attempt carries one key."""

    __slots__ = ("method", "read", "shown_once", "writes")

    def __init__(
        self,
        method: str,
        read: Callable[[bytes], T_co],
        *,
        writes: bool = False,
        shown_once: str | None = None,
    ) -> None:
        self.method = method
        self.read = read
        self.writes = writes
        self.shown_once = shown_once


class Cache:
    """The newest responses that had an ETag, by target."""

    def __init__(self) -> None:
        self._rows: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, target: str) -> tuple[str, bytes] | None:
        with self._lock:
            row = self._rows.get(target)
            if row is not None:
                self._rows.move_to_end(target)
            return row

    def put(self, target: str, etag: str, body: bytes) -> None:
        with self._lock:
            if target in self._rows:
                self._bytes -= len(target) + len(self._rows.pop(target)[1])
            self._rows[target] = (etag, body)
            self._bytes += len(target) + len(body)
            while self._bytes > CACHED_BYTES:
                oldest, (_, dropped) = self._rows.popitem(last=False)
                self._bytes -= len(oldest) + len(dropped)


def exchange(
    operation: Operation[T],
    path: str,
    *,
    query: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
    idempotency_key: str | None,
    retries: float,
    timeout: float,
    cache: Cache | None,
) -> Exchange[T]:
    target, headers, content, longer = path, {}, None, None
    if query:
        target += query_text(query)
        if query.get("wait"):
            longer, cache = timeout + query["wait"], None
    if body is not None:
        content = encode_body(body)
        headers["content-type"] = "application/json"
    if operation.writes:
        idempotency_key = idempotency_key or str(uuid.uuid4())
        headers["idempotency-key"] = idempotency_key
    cached = None
    if cache is not None and operation.method == "GET" and (cached := cache.get(target)) is not None:
        headers["if-none-match"] = cached[0]
    request = Request(operation.method, target, headers, content, longer)
    attempt = 0
    while True:
        response = yield request
        if isinstance(response, Response) and (
            response.status < 300 or (response.status == 304 and cached is not None)
        ):
            break
        attempt += 1
        if isinstance(response, Response):
            error = api_error(response, idempotency_key)
            delay = delay_before(attempt, response, math.inf if retries == math.inf else LONGEST_RETRY_AFTER)
            again = response.status in RETRIED or error.code == STILL_RUNNING
            if attempt > retries or not again or delay is None:
                raise error
        else:
            if attempt > retries:
                failed = response or ConnectionFailed("No response.")
                failed.idempotency_key = idempotency_key
                raise failed
            delay = backoff(attempt)
        yield delay
    content = cached[1] if cached is not None and response.status == 304 else response.body
    if cache is not None and response.status == 200 and (etag := response.headers.get("etag")):
        cache.put(target, etag, content)
    result = _read(operation, content, response, idempotency_key)
    if operation.shown_once is not None and getattr(result, operation.shown_once) is None:
        raise SecretLost(result)
    return result


def _read(operation: Operation[T], content: bytes, response: Response, idempotency_key: str | None) -> T:
    try:
        return operation.read(content)
    except ValueError as problem:  # Bytes that are no text are not a DecodeError.
        message = f"The response cannot be read: {problem}"
        request_id = response.headers.get("x-request-id")
        raise ApiError(
            response.status,
            "unreadable_response",
            "api_error",
            message,
            None,
            {},
            request_id,
            idempotency_key=idempotency_key,
        ) from problem


def backoff(attempt: int) -> float:
    """Seconds before the next attempt: twice as long each time, and different for every caller."""
    return random.uniform(0.5, 1.0) * min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(attempt - 1, 10))


def delay_before(attempt: int, response: Response, longest: float) -> float | None:
    """What Retry-After says and a little more, so that not all come back at once. None: it is too long to wait."""
    told = response.headers.get("retry-after")
    if told is None:
        return backoff(attempt)
    try:
        seconds = (
            float(told) if told.strip().isdigit() else parsedate_to_datetime(told).timestamp() - time.time()
        )
    except ValueError:
        return backoff(attempt)
    return None if seconds > longest else min(max(0.0, seconds), DAY) + random.uniform(0, FIRST_DELAY)


def api_error(response: Response, idempotency_key: str | None) -> ApiError:
    """The error of a response, also of one that a proxy between made and that is not the API's."""
    body: dict[str, Any] = {}
    told: dict[str, Any] = {}
    try:
        body = msgspec.json.decode(response.body, type=dict[str, Any])
        told = msgspec.convert(body.get("error"), dict[str, Any])
        code, kind, message = str(told["code"]), str(told["type"]), str(told["message"])
    except (ValueError, KeyError):
        code, kind, message = f"http_{response.status}", "api_error", "The response is not one of the API."
    problems: tuple[dict[str, Any], ...] = ()
    with suppress(msgspec.ValidationError):
        problems = msgspec.convert(body.get("detail"), tuple[dict[str, Any], ...])
    return BY_CODE.get(code, ApiError)(
        response.status,
        code,
        kind,
        message,
        told.get("param"),
        told.get("details") or {},
        response.headers.get("x-request-id") or told.get("request_id"),
        problems=problems,
        idempotency_key=idempotency_key,
    )


def encode_body(body: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(
        {name: _plain(value) for name, value in body.items() if value is not UNSET}, enc_hook=str
    )


def _plain(value: Any) -> Any:
    """The API does not take 1E+2, which a Decimal that was normalized is written as."""
    return f"{value:f}" if isinstance(value, Decimal) else value


def query_text(query: Mapping[str, Any]) -> str:
    pairs = [(name, _query_value(value)) for name, value in query.items() if value is not None]
    return f"?{urlencode(pairs)}" if pairs else ""


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ",".join(map(str, cast("Sequence[object]", value)))
    return str(_plain(value))


def segment(value: str) -> str:
    """An id as a part of a path."""
    if value in ("", ".", ".."):
        # Each of these would be sent to another route.
        raise ValueError(f"{value!r} is not an id.")
    return quote(str(value), safe="")
