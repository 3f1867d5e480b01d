"""Partners that write continuously, retry until they know the outcome, and check every answer."""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from msgspec import Struct

from shared.wire import new_id
from tests.chaos.ledger import Fact, Ledger
from tests.harness.bookable_studio import Bookable
from tests.harness.http import Client, Reply

ANSWER_SECONDS = 11.0
GIVE_UP_SECONDS = 120.0
RETRY_SECONDS = 0.2
ALLOWED_ERRORS = frozenset({503, 504})


class Gateway:
    """`faulty` while a fault affects it: then it need not answer. `faults` counts those that have begun."""

    def __init__(self, name: str, clients: dict[str, Client]) -> None:
        self.name = name
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
    booked: list[str] = []
    # Email and id of each.
    leads: list[tuple[str, str]] = []


class Request(Struct, frozen=True):
    studio: Studio
    kind: str
    method: str
    path: str
    body: Any
    headers: dict[str, str]
    # The id of the lead with the email of a new member.
    lead_id: str = ""


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
        self.statuses: Counter[int] = Counter()
        self.last_success: dict[tuple[str, str], float] = {}
        self._turn = itertools.cycle(gateways)
        self._studios = [Studio(id_, _shuffled(bookable, draw)) for id_, bookable in studios.items()]
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
        key = {"Idempotency-Key": new_id()}
        studio = self.draw.choice(self._studios)
        chance = self.draw.random()
        if chance < 0.2 and studio.booked:
            path = f"/bookings/{studio.booked.pop(0)}"
            return Request(studio, "booking.cancelled", "DELETE", path, None, key)
        if chance < 0.6:
            class_id, member_id = next(studio.free)
            body = {"class_id": class_id, "member_id": member_id}
            return Request(studio, "booking.created", "POST", "/bookings", body, key)
        email, lead_id = f"{new_id()}@example.com", ""
        if chance < 0.85:
            if chance < 0.7 and studio.leads:
                email, lead_id = studio.leads.pop(0)
            body = {"email": email, "first_name": "Grace", "last_name": "Hopper"}
            return Request(studio, "member.created", "POST", "/members", body, {}, lead_id)
        return Request(studio, "lead.created", "POST", "/leads", {"email": email, "first_name": "Ada"}, {})

    async def _write(self, request: Request) -> None:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            gateway = next(self._turn)
            reply = await self._send(gateway, request)
            if reply is not None and (fact := outcome(request, reply)) is not None:
                self._acknowledge(gateway.name, request, reply, fact)
                return
            await asyncio.sleep(RETRY_SECONDS)
        self.defects.given_up.append(f"{request.method} {request.path} {request.headers}")

    async def _send(self, gateway: Gateway, request: Request) -> Reply | None:
        before, started = (gateway.faulty, gateway.faults), time.monotonic()
        problem = ""
        reply = None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reply = await gateway.clients[request.studio.id].send(
                    request.method, request.path, request.body, headers=request.headers
                )
        except TimeoutError:
            problem = f"no answer in {ANSWER_SECONDS:.0f} s"
        except (aiohttp.ClientError, OSError) as error:
            problem = repr(error)
        untouched = before == (gateway.faulty, gateway.faults) and not gateway.faulty
        where = f"{gateway.name}: {request.method} {request.path} after {time.monotonic() - started:.1f} s"
        if reply is None:
            if untouched:
                self.defects.unanswered.append(f"{where}: {problem}")
            return None
        self.statuses[reply.status] += 1
        if not is_expected(reply):
            self.defects.wrong_statuses.append(f"{where}: {reply.status} {reply.body.decode()}")
        return reply

    def _acknowledge(self, gateway: str, request: Request, reply: Reply, fact: Fact) -> None:
        studio = request.studio
        self.last_success[gateway, request.kind] = time.monotonic()
        self.ledger.acknowledge(fact, studio.id, shown_by_event(request, reply))
        if request.kind == "booking.created":
            studio.booked.append(fact[1])
        elif request.kind == "lead.created":
            studio.leads.append((request.body["email"], fact[1]))
        if request.lead_id:
            # The event log forwards the new member to forms, which converts the lead.
            self.ledger.expect(("lead.updated", request.lead_id), studio.id, {"status": "converted"})


def _shuffled(studio: Bookable, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Every class with every member, in random order."""
    pairs = list(itertools.product(studio.class_ids, studio.member_ids))
    draw.shuffle(pairs)
    return iter(pairs)


def outcome(request: Request, reply: Reply) -> Fact | None:
    """The write that an answer acknowledges, or None if the write has to be sent again."""
    if 200 <= reply.status < 300:
        if request.kind == "booking.cancelled":
            return request.kind, request.path.rpartition("/")[2]
        return request.kind, str(reply.json()["id"])
    if reply.status == 409 and reply.code == "member_exists":
        return request.kind, str(reply.json()["error"]["details"]["member_id"])
    return None


def is_expected(reply: Reply) -> bool:
    """No fault may cause a 4xx either, except the two that refer to an earlier attempt."""
    if reply.status == 409:
        return reply.code in ("member_exists", "idempotency_in_progress")
    return 200 <= reply.status < 300 or reply.status in ALLOWED_ERRORS


def shown_by_event(request: Request, reply: Reply) -> dict[str, Any]:
    """What the event must contain too: the booking from the answer, the email from the request."""
    if request.kind == "booking.created":
        booking: dict[str, Any] = reply.json()
        return booking
    return {"email": request.body["email"]} if request.body else {}
