"""One signed POST and its outcome. Redirects are not followed, and only the start of the response is read."""

import asyncio
import time
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver, AbstractStreamWriter
from msgspec import Struct
from yarl import URL

from services.webhooks.dispatcher.resolver import (
    FairResolver,
    ForbiddenAddress,
    GuardedResolver,
    guarded_socket,
    lookup_tenant,
)
from services.webhooks.dispatcher.response_guard import BoundedConnector, ExcessiveResponse
from services.webhooks.rules.freshness import Freshness
from services.webhooks.rules.retry import Outcome, parse_retry_after
from services.webhooks.rules.urls import UrlPolicy
from shared.wire import now

MAX_READ = 64 * 1024
MAX_STORED = 2 * 1024
TIMEOUT = 15.0


class Sent(Struct, frozen=True):
    """`text` is the start of the response body, `headers` are the first ones of the response."""

    at: datetime
    duration_ms: int
    outcome: Outcome
    text: str | None
    headers: dict[str, str] | None


class NotFresh(Exception):
    """The body may have been erased since it was loaded: load it again."""


class _Body(aiohttp.BytesPayload):
    """Asks at the last moment: looking a name up and connecting take up to 15 s."""

    def __init__(self, body: bytes, fresh: Freshness | None) -> None:
        super().__init__(body)
        self._fresh = fresh
        self.was_refused = False

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        if self._fresh is not None and not self._fresh.holds(time.monotonic()):
            self.was_refused = True
            raise NotFresh
        await super().write_with_length(writer, content_length)


class Sender:
    """Two connection pools: a guarded one, and one for hosts that an operator exempted from the guard."""

    def __init__(
        self, policy: UrlPolicy, *, timeout: float = TIMEOUT, resolver: AbstractResolver | None = None
    ) -> None:
        self._policy = policy
        self._timeout = aiohttp.ClientTimeout(total=2 * timeout, connect=timeout, sock_read=timeout)
        self._resolver = resolver

    async def __aenter__(self) -> Self:
        self._names = self._resolver or FairResolver()
        names = GuardedResolver(self._names)
        guarded = BoundedConnector(limit=0, resolver=names, socket_factory=guarded_socket)
        self._guarded = self._session(guarded)
        self._open = self._session(BoundedConnector(limit=0, resolver=self._names))
        return self

    def _session(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            # Never decompress: a small response could become huge.
            auto_decompress=False,
            skip_auto_headers=("Accept-Encoding", "User-Agent"),
            headers={"User-Agent": "studio-webhooks/1", "Accept-Encoding": "identity"},
        )

    async def __aexit__(self, *_: object) -> None:
        await self._guarded.close()
        await self._open.close()
        await self._names.close()

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        tenant: str = "",
        fresh: Freshness | None = None,
    ) -> Sent:
        """`tenant` is whose share of the DNS lookups this one uses.

        Raises `NotFresh`, with nothing sent, if the body is no longer fresh when the connection is ready.
        """
        lookup_tenant.set(tenant)
        at, started = now(), time.perf_counter()
        payload = _Body(body, fresh)
        outcome, text, received = await self._attempt(url, headers, payload)
        if payload.was_refused:
            raise NotFresh
        return Sent(at, round((time.perf_counter() - started) * 1000), outcome, text, received)

    async def _attempt(
        self, url: str, headers: Mapping[str, str], body: aiohttp.Payload
    ) -> tuple[Outcome, str | None, dict[str, str] | None]:
        try:
            target = URL(url)
            session = self._open if self._policy.skips_address_check(target) else self._guarded
            async with session.post(target, data=body, headers=headers, allow_redirects=False) as response:
                retry_after = parse_retry_after(response.headers.get("Retry-After"), now())
                raw, incomplete = await _read_start(response)
                status = response.status
                error = None if 200 <= status < 300 else f"the endpoint responded with {status}"
                if incomplete:
                    error = f"{error}, and its body was cut off" if error else "the response body was cut off"
                return (
                    Outcome(status, error, retry_after),
                    storable_text(raw),
                    first_headers(response.headers),
                )
        except Exception as problem:
            return Outcome(None, error_message(problem)), None, None


async def _read_start(response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
    """The start of the body, for the delivery log, and whether it was cut off. Only the status matters.

    Raises `ExcessiveResponse`: whoever sends such responses has failed, so that its endpoint is paused.
    """
    raw = bytearray()
    try:
        while len(raw) < MAX_READ:
            part = await response.content.read(MAX_READ - len(raw))
            if not part:
                return bytes(raw), False
            raw += part
    except ExcessiveResponse:
        raise
    except (aiohttp.ClientError, OSError, TimeoutError):
        response.close()
        return bytes(raw), True
    response.close()
    return bytes(raw), False


MAX_HEADERS = 10
MAX_HEADER = 100


def first_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """For the delivery log."""
    return {_storable(name.lower()): _storable(value) for name, value in islice(headers.items(), MAX_HEADERS)}


def _storable(header: str) -> str:
    if header.isascii() and "\0" not in header:
        return header[:MAX_HEADER]
    return storable_text(header[:MAX_HEADER].encode("utf-8", "replace"))


def storable_text(raw: bytes) -> str:
    """At most 2 KiB of text without NUL, which Postgres cannot store. Decoding can grow it, so cut again."""
    text = raw[:MAX_STORED].decode("utf-8", "replace").replace("\x00", "�")
    return text.encode()[:MAX_STORED].decode("utf-8", "ignore")


def error_message(problem: BaseException) -> str:
    """For the delivery log: what a partner needs to know, without our internals."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ForbiddenAddress):
            return "not sent: the host resolves to a private, local or reserved address"
        cause = getattr(cause, "os_error", None) or cause.__cause__
    if isinstance(problem, (asyncio.TimeoutError, TimeoutError)):
        return "timed out waiting for a response"
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return "the host name cannot be resolved"
    if isinstance(problem, (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError)):
        return f"TLS failed: {problem}"[:300]
    if isinstance(problem, aiohttp.ClientConnectorError):
        return f"could not connect: {problem.os_error.strerror or 'refused'}"[:300]
    if isinstance(
        problem, (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError)
    ):
        return "the connection was closed before a response arrived"
    if isinstance(problem, ExcessiveResponse):
        return "the response had too many interim responses, headers or chunk extensions"
    if isinstance(problem, (aiohttp.ClientResponseError, aiohttp.http.HttpProcessingError)):
        return "the response was not valid HTTP"
    if isinstance(problem, (aiohttp.InvalidURL, UnicodeError)):
        return "the URL cannot be used"
    return "the request could not be sent"
