"""The gateway's upstream client, written with two libraries: same requests, same answers."""

from datetime import timedelta

import aiohttp
import yarl

from services.gateway.upstream.messages import (
    Headers,
    NotReached,
    OutcomeUnknown,
    UpstreamResponse,
    check_target,
    end_to_end,
    forwarded_headers,
)

CONNECTIONS = 128
CONNECT_TIMEOUT = 1.0


class AiohttpUpstream:
    def __init__(self, address: str, *, response_timeout: float) -> None:
        self._base = address.rstrip("/")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=4.0),
            timeout=aiohttp.ClientTimeout(total=response_timeout, connect=CONNECT_TIMEOUT),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
        )

    async def request(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> UpstreamResponse:
        check_target(method, target)
        sent = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in forwarded_headers(headers)
        ]
        url = yarl.URL(self._base + target.decode(), encoded=True)
        try:
            async with self._session.request(
                method.decode(), url, headers=sent, data=body or None, allow_redirects=False
            ) as response:
                received = [(name.lower(), value) for name, value in response.raw_headers]
                return UpstreamResponse(response.status, end_to_end(received), await response.read())
        except aiohttp.ClientConnectorError as problem:
            raise NotReached(str(problem)) from problem
        except (aiohttp.ClientError, TimeoutError) as problem:
            raise OutcomeUnknown(str(problem)) from problem

    async def close(self) -> None:
        await self._session.close()


class PyreqwestUpstream:
    def __init__(self, address: str, *, response_timeout: float) -> None:
        from pyreqwest.client import ClientBuilder

        builder = ClientBuilder().max_connections(CONNECTIONS).pool_idle_timeout(timedelta(seconds=4))
        builder = builder.timeout(timedelta(seconds=response_timeout)).follow_redirects(False).no_proxy()
        builder = builder.connect_timeout(timedelta(seconds=CONNECT_TIMEOUT)).referer(False)
        builder = builder.gzip(False).brotli(False).zstd(False).deflate(False)
        self._client = builder.http1_lower_case_headers().build()
        self._base = address.rstrip("/")

    async def request(self, method: bytes, target: bytes, headers: Headers, body: bytes) -> UpstreamResponse:
        from pyreqwest.exceptions import ConnectError, RequestError

        check_target(method, target)
        sent = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in forwarded_headers(headers)
        ]
        building = self._client.request(method.decode(), self._base + target.decode()).headers(sent)
        if body:
            building = building.body_bytes(body)
        try:
            response = await building.build().send()
            content = bytes(await response.bytes())
        except ConnectError as problem:
            raise NotReached(str(problem)) from problem
        except (RequestError, TimeoutError) as problem:
            raise OutcomeUnknown(str(problem)) from problem
        received = [
            (name.lower().encode(), value.encode("latin-1")) for name, value in response.headers.items()
        ]
        return UpstreamResponse(response.status, end_to_end(received), content)

    async def close(self) -> None:
        await self._client.close()
