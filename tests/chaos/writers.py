"""Partners and operators that write all the time, retry until they know the outcome, and check answers."""

import asyncio
import itertools
import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from msgspec import Struct

from shared.wire import new_id
from tests.chaos.ledger import Fact, Ledger
from tests.harness import import_lines
from tests.harness.bookable_studio import Bookable
from tests.harness.http import Client, Reply

RESPONSE_SECONDS = 11.0
# The gateway waits up to two minutes for what operators ask of a service.
OPERATOR_SECONDS = 125.0
GIVE_UP_SECONDS = 120.0
IMPORTED_AT_ONCE = 3
RETRY_SECONDS = 0.2
ALLOWED_ERRORS = frozenset({503, 504})


class Gateway:
    """`faulty` while a fault affects it: then it need not answer. `faults` counts those that have begun."""

    def __init__(self, name: str, operator: Client, clients: dict[str, Client]) -> None:
        self.name = name
        self.operator = operator
        # By the id of the studio: a key belongs to one.
        self.clients = clients
        self.faulty = False
        self.faults = 0

    @asynccontextmanager
    async def excused(self) -> AsyncIterator[None]:
        self.faulty, self.faults = True, self.faults + 1
        try:
            yield
        finally:
            self.faulty = False


class Defects(Struct):
    """What a gateway that is up and reachable must never do."""

    wrong_statuses: list[str] = []
    unanswered: list[str] = []
    given_up: list[str] = []


class Studio(Struct):
    """A studio and what can be written to it."""

    id: str
    free: Iterator[tuple[str, str]]
    # The names of the endpoints that nobody is changing.
    endpoints: list[str]
    booked: list[str] = []
    # Email and id of each.
    leads: list[tuple[str, str]] = []
    members: list[tuple[str, str]] = []


class Request(Struct, frozen=True):
    """`kind` is the type of the event that follows, if there is one."""

    studio: Studio
    kind: str
    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = {}
    # The id of the lead with the email of a new member.
    lead_id: str = ""
    # The endpoint that is changed.
    endpoint: str = ""
    # For the operators' API; the lines are for an import.
    is_operators: bool = False
    lines: list[dict[str, Any]] = []


class Writers:
    """`rate` is of all writers together, in writes per second."""

    def __init__(
        self,
        gateways: list[Gateway],
        ledger: Ledger,
        studios: dict[str, Bookable],
        draw: random.Random,
        rate: float,
    ) -> None:
        self.gateways = gateways
        self.ledger = ledger
        self.draw = draw
        self.count = max(4, int(rate / 4))
        self.pause = self.count / rate
        self.defects = Defects()
        self.last_success: dict[tuple[str, str], float] = {}
        self._turn = itertools.cycle(gateways)
        self._studios = [
            Studio(
                id_,
                _shuffled(bookable, draw),
                [name for name, endpoint in ledger.endpoints.items() if endpoint.studio_id == id_],
            )
            for id_, bookable in studios.items()
        ]
        self._paths = itertools.count(1)
        self._running: list[asyncio.Task[None]] = []
        self._over = asyncio.Event()

    def start(self) -> None:
        self._over.clear()
        self._running = [asyncio.create_task(self._work()) for _ in range(self.count)]

    async def stop(self) -> None:
        """Returns when each writer knows the outcome of its last write."""
        self._over.set()
        ended = await asyncio.gather(*self._running, return_exceptions=True)
        self.defects.given_up += [f"a writer ended: {one!r}" for one in ended if one is not None]

    async def _work(self) -> None:
        await asyncio.sleep(self.draw.random() * self.pause)
        while not self._over.is_set():
            started = time.monotonic()
            await self._write(self._next())
            await asyncio.sleep(max(0.0, self.pause - (time.monotonic() - started)))

    def _next(self) -> Request:
        studio = self.draw.choice(self._studios)
        chance = self.draw.random()
        if chance < 0.18 and studio.booked:
            path = f"/bookings/{studio.booked.pop(0)}"
            return Request(studio, "booking.cancelled", "DELETE", path, headers=_key())
        if chance < 0.55:
            class_id, member_id = next(studio.free)
            body = {"class_id": class_id, "member_id": member_id}
            return Request(studio, "booking.created", "POST", "/bookings", body, _key())
        if chance < 0.58 and studio.members:
            email, member_id = studio.members.pop(0)
            self.ledger.begin_erasure(member_id, email)
            return Request(studio, "member.erased", "POST", f"/members/{member_id}/erase", is_operators=True)
        if chance < 0.60:
            lines = [import_lines.member() for _ in range(IMPORTED_AT_ONCE)]
            return Request(studio, "member.created", "POST", "/import", is_operators=True, lines=lines)
        if chance < 0.62 and studio.endpoints:
            return self._endpoint_change(studio, studio.endpoints.pop(0))
        email, lead_id = f"{new_id()}@example.com", ""
        if chance < 0.85:
            if chance < 0.7 and studio.leads:
                email, lead_id = studio.leads.pop(0)
            body = {"email": email, "first_name": "Grace", "last_name": "Hopper"}
            return Request(studio, "member.created", "POST", "/members", body, lead_id=lead_id)
        return Request(studio, "lead.created", "POST", "/leads", {"email": email, "first_name": "Ada"})

    def _endpoint_change(self, studio: Studio, name: str) -> Request:
        endpoint = self.ledger.endpoints[name]
        url = f"{endpoint.url}/{next(self._paths)}"
        self.ledger.begin_change(name, path_of(url))
        body = {"url": url}
        return Request(studio, "", "PATCH", f"/webhook-endpoints/{endpoint.id}", body, endpoint=name)

    async def _write(self, request: Request) -> None:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            gateway = next(self._turn)
            reply = await self._send(gateway, request)
            if reply is not None and (facts := outcome(request, reply)) is not None:
                self._acknowledge(gateway.name, request, facts)
                return
            await asyncio.sleep(RETRY_SECONDS)
        self.defects.given_up.append(f"{request.method} {request.path} {request.headers}")

    async def _send(self, gateway: Gateway, request: Request) -> Reply | None:
        before, started = (gateway.faulty, gateway.faults), time.monotonic()
        limit = OPERATOR_SECONDS if request.is_operators else RESPONSE_SECONDS
        problem = ""
        reply = None
        try:
            async with asyncio.timeout(limit):
                reply = await _sent(gateway, request)
        except TimeoutError:
            problem = f"no answer in {limit:.0f} s"
        except (aiohttp.ClientError, OSError) as error:
            problem = repr(error)
        untouched = before == (gateway.faulty, gateway.faults) and not gateway.faulty
        where = f"{gateway.name}: {request.method} {request.path} after {time.monotonic() - started:.1f} s"
        if reply is None:
            if untouched:
                self.defects.unanswered.append(f"{where}: {problem}")
            return None
        if not is_expected(reply):
            self.defects.wrong_statuses.append(f"{where}: {reply.status} {reply.body.decode()}")
        return reply

    def _acknowledge(self, gateway: str, request: Request, facts: dict[Fact, dict[str, Any]]) -> None:
        studio = request.studio
        self.last_success[gateway, request.kind] = time.monotonic()
        if request.endpoint:
            self.ledger.change_path(request.endpoint, path_of(request.body["url"]))
            studio.endpoints.append(request.endpoint)
        for fact, fields in facts.items():
            kind, resource_id = fact
            if kind == "member.erased":
                self.ledger.end_erasure(resource_id)
            self.ledger.acknowledge(fact, studio.id, fields)
            if kind == "booking.created":
                studio.booked.append(resource_id)
            elif kind == "lead.created":
                studio.leads.append((fields["email"], resource_id))
            elif kind == "member.created" and not request.lead_id:
                studio.members.append((fields["email"], resource_id))
        if request.lead_id:
            # The event log forwards the new member to forms, which converts the lead.
            self.ledger.expect(("lead.updated", request.lead_id), studio.id, {"status": "converted"})


async def _sent(gateway: Gateway, request: Request) -> Reply:
    if not request.is_operators:
        client = gateway.clients[request.studio.id]
        return await client.send(request.method, request.path, request.body, headers=request.headers)
    if not request.lines:
        return await gateway.operator.send(request.method, request.path)
    raw = b"\n".join(json.dumps(line).encode() for line in request.lines)
    return await gateway.operator.send(
        request.method, request.path, raw=raw, studio=request.studio.id, events=True
    )


def path_of(url: str) -> str:
    return "/" + url.partition("//")[2].partition("/")[2]


def _key() -> dict[str, str]:
    return {"Idempotency-Key": new_id()}


def _shuffled(studio: Bookable, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Every class with every member, in random order."""
    pairs = list(itertools.product(studio.class_ids, studio.member_ids))
    draw.shuffle(pairs)
    return iter(pairs)


def outcome(request: Request, reply: Reply) -> dict[Fact, dict[str, Any]] | None:
    """The writes that a response acknowledges, with what their events must contain, too.

    None if the request has to be sent again.
    """
    kind, email = request.kind, (request.body or {}).get("email")
    if reply.status == 409 and reply.code == "member_exists":
        return {(kind, str(reply.json()["error"]["details"]["member_id"])): {"email": email}}
    if not 200 <= reply.status < 300:
        return None
    if request.endpoint:
        return {}
    if request.lines:
        imported = {(kind, str(line["id"])): {"email": line["email"]} for line in request.lines}
        return None if reply.json()["rejected"] else imported
    if kind == "booking.cancelled":
        return {(kind, request.path.rpartition("/")[2]): {}}
    if kind == "member.erased":
        return {(kind, request.path.split("/")[2]): {}}
    return {(kind, str(reply.json()["id"])): reply.json() if kind == "booking.created" else {"email": email}}


def is_expected(reply: Reply) -> bool:
    """No fault may cause a 4xx either, except the two that refer to an earlier attempt."""
    if reply.status == 409:
        return reply.code in ("member_exists", "idempotency_in_progress")
    return 200 <= reply.status < 300 or reply.status in ALLOWED_ERRORS
