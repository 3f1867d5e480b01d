"""The two clients' own part: doing what an exchange yields, blocking or not, with pyreqwest."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from pyreqwest.client import BaseClientBuilder, ClientBuilder, SyncClientBuilder
from pyreqwest.exceptions import ClientClosedError, RequestError
from pyreqwest.request import BaseRequestBuilder

from ._errors import ConnectionFailed
from ._exchange import Cache, Exchange, Operation, Outcome, Request, Response, exchange
from ._values import Page
from ._version import __version__
from .models import API_VERSION

T = TypeVar("T")
B = TypeVar("B", bound=BaseClientBuilder)
R = TypeVar("R", bound=BaseRequestBuilder)

CONNECT_TIMEOUT = 5.0


class _Settings:
    """What both clients are made of."""

    def __init__(self, key: str, base_url: str, timeout: float, retries: float, cache: bool) -> None:
        self._key = key
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._cache = Cache() if cache else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._base_url!r})"

    def _built(self, builder: B) -> B:
        headers = {"x-service-key": self._key, "x-api-version": API_VERSION, "accept": "application/json"}
        return (
            builder.default_headers(headers)
            .user_agent(f"studio-partner-python/{__version__}")
            .timeout(timedelta(seconds=self._timeout))
            .connect_timeout(timedelta(seconds=min(CONNECT_TIMEOUT, self._timeout)))
            .follow_redirects(False)
        )

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


def _filled(builder: R, request: Request) -> R:
    if request.headers:
        builder = builder.headers(request.headers)
    if request.body is not None:
        builder = builder.body_bytes(request.body)
    if request.timeout is not None:
        builder = builder.timeout(timedelta(seconds=request.timeout))
    return builder


class BlockingClient(_Settings):
    """Safe to share between threads. Close it, or use it with `with`."""

    def __init__(
        self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4, cache: bool = False
    ) -> None:
        super().__init__(key, base_url, timeout, retries, cache)
        self._http = self._built(SyncClientBuilder()).build()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _send(self, request: Request) -> Outcome:
        builder = self._http.request(request.method, self._base_url + request.target)
        try:
            response = _filled(builder, request).build().send()
            return Response(response.status, response.headers, bytes(response.bytes()))
        except ClientClosedError:
            raise
        except RequestError as problem:
            return ConnectionFailed(str(problem))

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
            query, more = query | {"cursor": page.next_cursor}, page.has_more


class AsyncioClient(_Settings):
    """Use it in one event loop. Close it, or use it with `async with`."""

    def __init__(
        self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4, cache: bool = False
    ) -> None:
        super().__init__(key, base_url, timeout, retries, cache)
        self._http = self._built(ClientBuilder()).build()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.close()

    async def _send(self, request: Request) -> Outcome:
        builder = self._http.request(request.method, self._base_url + request.target)
        try:
            response = await _filled(builder, request).build().send()
            return Response(response.status, response.headers, bytes(await response.bytes()))
        except ClientClosedError:
            raise
        except RequestError as problem:
            return ConnectionFailed(str(problem))

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
            query, more = query | {"cursor": page.next_cursor}, page.has_more
