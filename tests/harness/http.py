"""A small HTTP client for tests that reads every answer to its end."""

import json
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode

import aiohttp
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from shared.wire import new_id
from tests.harness.eventually import eventually


class Reply(Struct):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code; fails if the response is not an error."""
        return str(self.json()["error"]["code"])


class Client:
    """Calls under one base URL with fixed headers, on the test's own session."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str, headers: Mapping[str, str]) -> None:
        self._session = session
        self._base_url = base_url
        self._headers = dict(headers)

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Reply:
        sent = self._headers | dict(headers or {})
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None and not any(name.lower() == "content-type" for name in sent):
            sent["Content-Type"] = "application/json"
        given = {name: _text(value) for name, value in query.items() if value is not None}
        url = self._base_url + path + (f"?{urlencode(given)}" if given else "")
        async with self._session.request(
            method,
            URL(url, encoded=True),
            data=data,
            headers={name: value for name, value in sent.items() if value is not None},
            skip_auto_headers=["Content-Type", "User-Agent"],
            allow_redirects=False,
        ) as response:
            return Reply(response.status, CIMultiDict(response.headers), await response.read())

    async def get(self, path: str, **query: Any) -> Reply:
        return await self.send("GET", path, **query)

    async def post(self, path: str, body: Any = None, **more: Any) -> Reply:
        return await self.send("POST", path, body, **more)

    async def until(
        self, path: str, holds: Callable[[Any], object] = itemgetter("data"), **query: Any
    ) -> Any:
        """What a GET returns once this holds for it; by default once a list is not empty."""

        async def look() -> Any:
            found = (await self.get(path, **query)).json()
            return found if holds(found) else None

        return await eventually(look)

    async def everything(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """All rows of a list, page after page."""
        rows: list[dict[str, Any]] = []
        cursor = None
        while True:
            reply = await self.get(path, cursor=cursor, **query)
            assert reply.status == 200, reply.body
            page = reply.json()
            rows += page["data"]
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return rows

    async def put(self, path: str, body: Any = None, **more: Any) -> Reply:
        return await self.send("PUT", path, body, **more)

    async def patch(self, path: str, body: Any = None, **more: Any) -> Reply:
        return await self.send("PATCH", path, body, **more)

    async def delete(self, path: str, **more: Any) -> Reply:
        return await self.send("DELETE", path, **more)

    async def create(self, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """What a POST has made; fails unless it is answered with 201."""
        return created(await self.post(path, body, **more))

    async def book(self, class_id: Any, member_id: Any, *, key: str | None = None, **more: Any) -> Reply:
        body = {"class_id": class_id, "member_id": member_id} | more
        return await self.post("/bookings", body, headers={"Idempotency-Key": key or new_id()})

    async def move(self, booking_id: str, class_id: str, *, key: str | None = None) -> Reply:
        path, headers = f"/bookings/{booking_id}/reschedule", {"Idempotency-Key": key or new_id()}
        return await self.post(path, {"class_id": class_id}, headers=headers)

    async def cancel(self, booking_id: Any) -> Reply:
        return await self.delete(f"/bookings/{booking_id}", headers={"Idempotency-Key": new_id()})


def created(reply: Reply) -> dict[str, Any]:
    assert reply.status == 201, reply.body
    made: dict[str, Any] = reply.json()
    return made


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
