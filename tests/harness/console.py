"""The browser's side of a console session: exchanging the link, the cookie, and the page's header."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from itertools import count
from typing import Any

import aiohttp

from tests.harness.http import Client, Reply
from tests.harness.system import RunningSystem, System, new_studio_in

PAGE = {"X-Studio-Console": "1"}
_addresses = count()


@asynccontextmanager
async def system_from_own_address(running: RunningSystem) -> AsyncIterator[System]:
    """A new studio with its own client address, because refusals are limited per address."""
    third, fourth = divmod(next(_addresses), 250)
    connector = aiohttp.TCPConnector(local_addr=(f"127.3.{third}.{fourth + 1}", 0))
    async with new_studio_in(running, connector=connector) as system:
        yield system


async def link_for(system: System, key: str, **body: Any) -> str:
    """The token of a fresh link."""
    return token_in(str((await system.partner(key).create("/console-sessions", body))["url"]))


def token_in(url: str) -> str:
    return url.partition("#token=")[2]


async def exchange(system: System, token: str, **headers: str) -> Reply:
    return await system.site.post("/console/session", {"token": token}, headers=PAGE | headers)


async def operator_sign_in(system: System, token: str, **headers: str) -> Reply:
    return await operators_port(system).post("/console/session", {"token": token}, headers=PAGE | headers)


def operators_port(system: System) -> Client:
    return system.client(system.running.operator_url, {})


def cookie_in(reply: Reply) -> str:
    """`name=value` of the cookie that a response sets."""
    assert reply.status == 200, reply.body
    (morsel,) = SimpleCookie(reply.headers["Set-Cookie"]).values()
    return f"{morsel.key}={morsel.value}"


async def session_of(system: System, key: str, **body: Any) -> dict[str, str]:
    """The headers of a request from the partner console's page, after a sign-in with this key's link."""
    return PAGE | {"Cookie": cookie_in(await exchange(system, await link_for(system, key, **body)))}


def with_session(system: System, headers: dict[str, str]) -> Client:
    return system.client(f"{system.running.partner_url}/partner/v1", headers)
