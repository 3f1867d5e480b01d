"""Calls the service's routes in this process. The studio is created by import, as in production."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from services.bookings.context import Bookings
from services.bookings.routes import routes
from shared.http.caller import Caller
from shared.http.error_mapping import response_for
from shared.http.route_table import RouteTable
from shared.routing import SCOPES
from shared.transfer.lines import ImportLine
from shared.wire import encode, new_id
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, a_studio, soon

_ROUTES = RouteTable(routes(), "")


class Reply(Struct):
    status: int
    body: bytes
    headers: dict[bytes, bytes]

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str | None:
        error = self.json.get("error")
        return error["code"] if error else None

    @property
    def details(self) -> Any:
        return self.json["error"]["details"]

    @property
    def replayed(self) -> bool:
        return self.headers.get(b"idempotent-replayed") == b"true"


class StudioClient:
    """One caller of one studio. `with_key` and `staff` are other callers of the same studio.

    With `separate_replicas` every call goes to its own replica, so that calls meet only in the database.
    """

    def __init__(self, service: Bookings, caller: Caller, *, separate_replicas: bool = False) -> None:
        self.service = service
        self.caller = caller
        self.separate_replicas = separate_replicas

    @classmethod
    def for_new_studio(cls, service: Bookings, *, separate_replicas: bool = False) -> "StudioClient":
        caller = Caller(
            studio_id=new_id(), client_id=new_id(), key_id="k1", scopes=frozenset(SCOPES), request_id="r0"
        )
        return cls(service, caller, separate_replicas=separate_replicas)

    def with_key(
        self, *, locations: tuple[str, ...] | None = None, client_id: str | None = None
    ) -> "StudioClient":
        caller = msgspec.structs.replace(
            self.caller, client_id=client_id or self.caller.client_id, location_ids=locations, key_id=new_id()
        )
        return StudioClient(self.service, caller, separate_replicas=self.separate_replicas)

    @property
    def staff(self) -> "StudioClient":
        caller = Caller(studio_id=self.caller.studio_id, actor="operator", request_id="staff")
        return StudioClient(self.service, caller)

    @property
    def with_late_fee(self) -> dict[str, Any]:
        """The line of the studio, with what a late cancellation costs."""
        fee = {"late_fee_amount": "15", "late_fee_currency": "USD", "forfeit_credit": True}
        return a_studio(self.caller.studio_id, **fee)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
        more_headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> Reply:
        raw_path = quote(path).encode()
        route = _ROUTES.find(method, raw_path)
        headers = [(b"content-type", b"application/json"), *more_headers]
        if key is not None:
            headers.append((b"idempotency-key", key.encode()))
        scope = {
            "headers": headers,
            "path_params": _ROUTES.parameters(route, raw_path),
            "query_string": urlencode({k: v for k, v in (query or {}).items() if v is not None}).encode(),
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": encode(body), "more_body": False}

        caller = msgspec.structs.replace(self.caller, request_id=new_id())
        service = (
            Bookings(db=self.service.db, wakeup=self.service.wakeup)
            if self.separate_replicas
            else self.service
        )
        try:
            response: Any = await route.respond(service, caller, scope, receive)
        except Exception as problem:
            response = response_for(problem, caller.request_id)
        return Reply(response.status, response.body, dict(response.headers))

    async def get(self, path: str, **query: Any) -> Reply:
        return await self.call("GET", path, query=query)

    async def key_state(self, key: str) -> Reply:
        """As the gateway asks for it, on behalf of this key."""
        caller = msgspec.structs.replace(self.caller, actor="operator")
        return await StudioClient(self.service, caller).get(f"/internal/idempotency-keys/{key}")

    async def get_ok(self, path: str, **query: Any) -> Any:
        reply = await self.get(path, **query)
        assert reply.status == 200, reply.body
        return reply.json

    async def book(self, class_id: str, member_id: str, *, key: str | None = None, **more: Any) -> Reply:
        body = {"class_id": class_id, "member_id": member_id, **more}
        return await self.call("POST", "/bookings", body, key=key or new_id())

    async def cancel(self, booking_id: str, *, key: str | None = None, **query: Any) -> Reply:
        return await self.call("DELETE", f"/bookings/{booking_id}", key=key or new_id(), query=query)

    async def confirm(self, booking_id: str, *, key: str | None = None) -> Reply:
        return await self.call("POST", f"/bookings/{booking_id}/confirm", key=key or new_id())

    async def move(self, booking_id: str, class_id: str, *, key: str | None = None, **more: Any) -> Reply:
        body = {"class_id": class_id, **more}
        return await self.call("POST", f"/bookings/{booking_id}/reschedule", body, key=key or new_id())

    async def seated(self, class_: Any, people: list[Any]) -> list[Any]:
        """Books all of them in order; those without a seat join the waitlist."""
        replies = [await self.book(class_["id"], person["id"], join_waitlist=True) for person in people]
        assert {reply.status for reply in replies} == {201}
        return [reply.json for reply in replies]

    async def statuses(self, *bookings: Any) -> list[str]:
        return [(await self.get_ok(f"/bookings/{booking['id']}"))["status"] for booking in bookings]

    async def credits_of(self, member: Any) -> int:
        return int((await self.staff.get_ok(f"/staff/members/{member['id']}"))["credits"])

    async def change_class(self, class_: Any, **changes: Any) -> Reply:
        """As staff."""
        return await self.staff.call("PATCH", f"/staff/classes/{class_['id']}", changes)

    async def cancel_class(self, class_: Any, **body: Any) -> Reply:
        return await self.staff.call("POST", f"/staff/classes/{class_['id']}/cancel", body)

    async def begin_class(self, class_: Any) -> None:
        """A minute ago."""
        times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
        assert (await self.change_class(class_, **times)).status == 200

    async def erase(self, **person: Any) -> Reply:
        body = {"studio_id": self.caller.studio_id, **person}
        return await self.staff.call("POST", "/internal/erase", body)

    async def list_all(self, path: str, **query: Any) -> list[Any]:
        """Every row of a list, page by page."""
        rows: list[Any] = []
        cursor = None
        while True:
            page = await self.get_ok(path, cursor=cursor, **query)
            rows += page["data"]
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return rows

    async def import_lines(self, *lines: Mapping[str, Any], send_events: bool = False) -> Any:
        """A first load, unless said otherwise: a test then finds only the events of what it does."""
        body = numbered(self, lines)
        query = {"send_events": str(send_events).lower()}
        reply = await self.staff.call("POST", "/internal/import", body, query=query)
        return reply.json

    async def import_all(self, *lines: Mapping[str, Any], send_events: bool = False) -> None:
        report = await self.import_lines(*lines, send_events=send_events)
        assert report["rejected"] == [], report

    async def rich(self, count: int) -> list[Any]:
        """Members with ten credits each."""
        product, people = a_product(10), [a_member() for _ in range(count)]
        await self.import_all(product, *people, *(a_purchase(person["id"], product) for person in people))
        return people

    async def open_class(
        self, *, people: int = 1, rich: bool = False, **fields: Any
    ) -> tuple[dict[str, Any], list[Any]]:
        """A class, and members who may want to book it; the rich have ten credits each."""
        class_ = a_class(**fields)
        members = await self.rich(people) if rich else [a_member() for _ in range(people)]
        await self.import_all(class_, *members)
        return class_, members

    async def events(self) -> list[Any]:
        """What the outbox holds, in order; the relay is not running here."""
        async with self.service.db.connection() as conn:
            rows = await conn.fetch("SELECT envelope FROM outbox ORDER BY id")
        events = [msgspec.json.decode(row["envelope"]) for row in rows]
        return [event for event in events if event["studio_id"] == self.caller.studio_id]


def numbered(client: StudioClient, lines: Iterable[Mapping[str, Any]]) -> list[ImportLine]:
    studio_id = client.caller.studio_id
    return [ImportLine(number, studio_id, msgspec.Raw(encode(line))) for number, line in enumerate(lines, 1)]
