"""The two clients' own part: doing what an exchange yields, blocking or not, with httpx2."""

import asyncio
import importlib
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx2

from ._errors import ConnectionFailed
from ._exchange import Cache, Exchange, Operation, Outcome, Request, Response, exchange
from ._values import Page
from ._version import __version__
from .models import API_VERSION

T = TypeVar("T")

CONNECT_TIMEOUT: Final = 5.0
# The rate limit of the API bounds the work, not the number of connections.
LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30)


class _Settings:
    """What both clients are made of."""

    def __init__(self, key: str, base_url: str, timeout: float, retries: float, cache: bool) -> None:
        if not re.fullmatch(r"[!-~]+", key):
            # As a header it would be refused later, by an error that shows it.
            raise ValueError("key is empty, or has a space, a line break or a letter that no key has.")
        if key.startswith("spk_live_") and _is_in_page():
            raise ValueError("A live key must not be in a browser's page, where every visitor can read it.")
        self._key = key
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._cache = Cache() if cache else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._base_url!r})"

    def _options(self) -> dict[str, Any]:
        """For httpx2. Redirects are not followed, by its default: they would carry the key elsewhere."""
        headers = {
            "x-service-key": self._key,
            "x-api-version": API_VERSION,
            "accept": "application/json",
            "user-agent": f"studio-partner-python/{__version__}",
        }
        return {"headers": headers, "timeout": _timeout(self._timeout), "limits": LIMITS}

    def _sent(self, request: Request) -> dict[str, Any]:
        sent: dict[str, Any] = {
            "method": request.method,
            "url": self._base_url + request.target,
            "headers": request.headers,
            "content": request.body,
        }
        if request.timeout is not None:
            sent["timeout"] = _timeout(request.timeout)
        return sent

    def _exchange(
        self,
        operation: Operation[T],
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        retries: float | None = None,
    ) -> Exchange[T]:
        return exchange(
            operation,
            path,
            query=query,
            body=body,
            idempotency_key=idempotency_key,
            retries=self._retries if retries is None else retries,
            timeout=self._timeout,
            cache=self._cache,
        )


def _is_in_page() -> bool:
    """Pyodide's Python runs in browsers, and in workers on servers, which do not call themselves Mozilla."""
    if sys.platform != "emscripten":
        return False
    page: Any = importlib.import_module("js")
    agent = getattr(getattr(page, "navigator", None), "userAgent", "")
    return hasattr(page, "document") or str(agent).startswith("Mozilla/")


def _failed(problem: httpx2.RequestError) -> ConnectionFailed:
    failed = ConnectionFailed(str(problem) or type(problem).__name__)
    failed.__cause__ = problem
    return failed


def _timeout(seconds: float) -> httpx2.Timeout:
    return httpx2.Timeout(seconds, connect=min(CONNECT_TIMEOUT, seconds))


class BlockingClient(_Settings):
    """Safe to share between threads. Close it, or use it with `with`."""

    def __init__(
        self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4, cache: bool = False
    ) -> None:
        super().__init__(key, base_url, timeout, retries, cache)
        self._http = httpx2.Client(**self._options())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _send(self, request: Request) -> Outcome:
        try:
            received = self._http.request(**self._sent(request))
        except httpx2.RequestError as problem:
            return _failed(problem)
        return Response(received.status_code, received.headers, received.content)

    def _run(self, steps: Exchange[T]) -> T:
        step = next(steps)
        try:
            while True:
                if isinstance(step, Request):
                    step = steps.send(self._send(step))
                else:
                    time.sleep(step)
                    step = next(steps)
        except StopIteration as done:
            result: T = done.value
            return result

    def _call(
        self,
        operation: Operation[T],
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        return self._run(self._exchange(operation, path, query, body, idempotency_key))

    def _rows(self, operation: Operation[Page[T]], path: str, query: dict[str, Any]) -> Iterator[T]:
        more = True
        while more:
            page = self._call(operation, path, query)
            yield from page.data
            query = query | {"cursor": page.next_cursor}
            more = page.has_more and page.next_cursor is not None


class AsyncioClient(_Settings):
    """Use it in one event loop. Close it, or use it with `async with`."""

    def __init__(
        self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4, cache: bool = False
    ) -> None:
        super().__init__(key, base_url, timeout, retries, cache)
        self._http = httpx2.AsyncClient(**self._options())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _send(self, request: Request) -> Outcome:
        try:
            received = await self._http.request(**self._sent(request))
        except httpx2.RequestError as problem:
            return _failed(problem)
        return Response(received.status_code, received.headers, received.content)

    async def _run(self, steps: Exchange[T]) -> T:
        step = next(steps)
        try:
            while True:
                if isinstance(step, Request):
                    step = steps.send(await self._send(step))
                else:
                    await asyncio.sleep(step)
                    step = next(steps)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _call(
        self,
        operation: Operation[T],
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        return await self._run(self._exchange(operation, path, query, body, idempotency_key))

    async def _rows(
        self, operation: Operation[Page[T]], path: str, query: dict[str, Any]
    ) -> AsyncIterator[T]:
        more = True
        while more:
            page = await self._call(operation, path, query)
            for row in page.data:
                yield row
            query = query | {"cursor": page.next_cursor}
            more = page.has_more and page.next_cursor is not None
