"""Erasing a person: in every service, safe to repeat, and finished by repeating it if it was interrupted."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import pytest

from services.all_in_one import OPEN_SERVICE
from services.gateway.actions.erase_person import Kind, erase_person
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.upstream import AsgiUpstream, OutcomeUnknown, Upstream, UpstreamResponse
from shared.errors import NotFound, Unavailable, UpstreamTimeout
from shared.events.bus import Batch, Link, OnReply, Queue
from shared.events.bus.memory import MemoryBus
from shared.http.caller import CALLER_HEADER, Caller, CallerSigner
from shared.settings import Settings
from shared.wire import encode, new_id
from tests.harness.database_layout import opened_database, urls_of_service
from tests.harness.databases import connected
from tests.harness.eventually import eventually, until
from tests.harness.http import Client
from tests.harness.system import System

KEY = "k" * 32


@pytest.mark.parametrize("kind", ["member", "lead"])
async def test_a_person_who_is_lead_and_member_is_erased_whole_from_either_side(
    system: System, partner: Client, kind: str
) -> None:
    """The email is nowhere afterwards: not in members, leads or events; doing it again changes nothing."""
    email = f"both-{kind}-{system.studio_id}@example.com"
    lead = await partner.create("/leads", {"email": email, "first_name": "Ada", "source": "Ada's aunt"})
    member = await partner.create("/members", {"email": email, "first_name": "Ada", "last_name": "King"})
    # Lead created, member created, lead converted.
    await partner.until("/events", lambda page: len(page["data"]) == 3)
    ids = {"member": member["id"], "lead": lead["id"]}
    path = f"/{kind}s/{ids[kind]}/erase"
    for _ in range(2):
        done = await system.operator.post(path)
        assert done.status == 200, done.body
    for shown in (f"/members/{member['id']}", f"/leads/{lead['id']}", "/members", "/leads", "/events"):
        response = (await partner.get(shown)).body
        assert email.encode() not in response, shown
        assert b"Ada" not in response, shown


EMAIL, WORDS = "adelheid@example.com", (b"adelheid", b"Quist")
# Everywhere that an event or a person is stored.
STORED = (
    "bookings.members",
    "bookings.outbox",
    "forms.leads",
    "forms.outbox",
    "webhooks.events",
    "webhooks.outbox",
    "webhooks.parked_events",
)


class HeldBus(MemoryBus):
    """Copies of events are on their way, and reach the log when `opened` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = asyncio.Event()
        self.held: set[str] = set()

    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        return HeldLink(self, await super().link(queue, service, on_reply))


class HeldLink:
    is_lost = False

    def __init__(self, bus: HeldBus, link: Link) -> None:
        self._bus = bus
        self._link = link

    async def send(self, batch: Batch, *, again: bool = False) -> None:
        self._bus.held.update(message.topic for message in batch.messages)
        await self._bus.opened.wait()
        await self._link.send(batch)

    async def close(self) -> None:
        await self._link.close()


async def nothing() -> None:
    return None


class Interrupted:
    """All calls of an erasure. Of the one numbered `fails_at`, the response or even the request is lost."""

    def __init__(self, upstreams: dict[str, AsgiUpstream]) -> None:
        self.upstreams = upstreams
        self.calls = 0
        self.fails_at: int | None = None
        self.loses_request = False
        self.lookup_status = 200
        self.after_the_first: Callable[[], Awaitable[object]] = nothing

    def of(self, name: str) -> Upstream:
        return cast(Upstream, _Link(self, self.upstreams[name]))


class _Link:
    def __init__(self, interrupted: Interrupted, upstream: AsgiUpstream) -> None:
        self._interrupted = interrupted
        self._upstream = upstream

    async def request(self, method: bytes, target: bytes, headers: Any, body: bytes) -> UpstreamResponse:
        if method == b"GET" and self._interrupted.lookup_status != 200:
            return UpstreamResponse(self._interrupted.lookup_status, [], b"{}")
        if target != b"/internal/erase":
            return await self._upstream.request(method, target, headers, body)
        self._interrupted.calls += 1
        is_lost = self._interrupted.calls == self._interrupted.fails_at
        if is_lost and self._interrupted.loses_request:
            raise OutcomeUnknown("the request is lost")
        response = await self._upstream.request(method, target, headers, body)
        if self._interrupted.calls == 1:
            await self._interrupted.after_the_first()
        if is_lost:
            raise OutcomeUnknown("the answer is lost")
        return response


class Studio:
    """The services that know people, in one process, and the gateway's side of an erasure."""

    def __init__(self, url: str, bus: HeldBus, calls: Interrupted, operators: OperatorContext) -> None:
        self.url = url
        self.bus = bus
        self.calls = calls
        self.operators = operators
        self.studio_id = new_id()

    async def create(self, service: str, path: str, **body: Any) -> str:
        """As a partner with every scope."""
        scopes = frozenset({"members:write", "leads:write", "members:read", "leads:read"})
        caller = Caller(studio_id=self.studio_id, client_id=new_id(), scopes=scopes)
        headers = [(CALLER_HEADER, CallerSigner((KEY,)).sign(caller)), (b"content-type", b"application/json")]
        response = await self.calls.upstreams[service].request(b"POST", path.encode(), headers, encode(body))
        assert response.status == 201, response.body
        return str(json.loads(response.body)["id"])

    async def erase(self, kind: Kind, person_id: str) -> None:
        await erase_person(self.operators, kind, person_id, self.studio_id, "r")

    async def rows(self, sql: str) -> list[Any]:
        async with connected(self.url) as conn:
            return list(await conn.fetch(sql))

    async def places_with_personal_data(self) -> list[str]:
        found = []
        for table in STORED:
            rows = [bytes(repr(tuple(row)), "utf8") for row in await self.rows(f"SELECT * FROM {table}")]  # noqa: S608
            found += [table for row in rows if any(word in row for word in WORDS)]
        return found

    async def has_no_outbox(self) -> bool:
        tables = ("bookings", "forms", "webhooks")
        return not any([await self.rows(f"SELECT 1 FROM {name}.outbox") for name in tables])  # noqa: S608


@asynccontextmanager
async def opened_studio(database_url: str) -> AsyncIterator[Studio]:
    bus = HeldBus()
    urls: dict[str, Any] = {**urls_of_service(database_url)}
    settings = Settings(**urls, caller_keys=(KEY,), webhook_keys=("w" * 32,))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(bus.close)
        upstreams = {}
        for name in ("webhooks", "forms", "bookings"):
            service = await stack.enter_async_context(OPEN_SERVICE[name](settings, bus))
            upstreams[name] = AsgiUpstream(service.app)
        db = await stack.enter_async_context(opened_database(database_url, "gateway"))
        calls = Interrupted(upstreams)
        reached = {name: calls.of(name) for name in upstreams}
        signers = dict.fromkeys(reached, CallerSigner((KEY,)))
        operators = OperatorContext(db, cast(Any, None), (), signers, reached, {})
        studio = Studio(database_url, bus, calls, operators)
        row = {"id": studio.studio_id, "slug": "s", "name": "S", "timezone": "UTC"}
        async with db.transaction() as conn:
            await studios.upsert(conn, [row])
        yield studio


@asynccontextmanager
async def studio_with_a_person(database_url: str) -> AsyncIterator[tuple[Studio, dict[Kind, str]]]:
    """A lead who became a member. Copies of both events are on their way."""
    async with opened_studio(database_url) as studio:
        lead_id = await studio.create("forms", "/leads", email=EMAIL, first_name="Adelheid")
        member = {"email": EMAIL, "first_name": "Adelheid", "last_name": "Quist"}
        member_id = await studio.create("bookings", "/members", **member)
        await until(lambda: studio.bus.held >= {"lead.created", "member.created"})
        yield studio, {"lead": lead_id, "member": member_id}


INTERRUPTIONS = [
    *((fails_at, "the response is lost") for fails_at in (1, 2, 3, 4)),
    *((fails_at, "the request is lost, and events arrive before it") for fails_at in (2, 3, 4)),
]


@pytest.mark.parametrize("kind", ["member", "lead"])
@pytest.mark.parametrize(("fails_at", "what"), INTERRUPTIONS)
async def test_a_repeated_erasure_finishes_one_that_was_interrupted(
    database_url: str, kind: Kind, fails_at: int, what: str
) -> None:
    """The person's events are on their way all the time, and are logged after the second answer.

    Or they arrive after the first call: no outbox has them when the rows are erased.
    """
    async with studio_with_a_person(database_url) as (studio, ids):

        async def arrive() -> None:
            studio.bus.opened.set()
            await eventually(studio.has_no_outbox)

        studio.calls.fails_at = fails_at
        if what != "the response is lost":
            studio.calls.after_the_first, studio.calls.loses_request = arrive, True
        with pytest.raises(UpstreamTimeout):
            await studio.erase(kind, ids[kind])
        await studio.erase(kind, ids[kind])
        if what == "the response is lost":
            assert await studio.places_with_personal_data() == []
        await arrive()
        assert await studio.places_with_personal_data() == []
        logged = [row["type"] for row in await studio.rows("SELECT type FROM webhooks.events")]
        assert {"lead.created", "member.created", "lead.erased", "member.erased"} <= set(logged)


async def test_only_a_404_means_that_the_person_is_not_there(database_url: str) -> None:
    """A failing service does not prove that the id is unknown: 503, erase again."""
    async with opened_studio(database_url) as studio:
        for status, error in ((404, NotFound), (500, Unavailable), (403, Unavailable)):
            studio.calls.lookup_status = status
            with pytest.raises(error):
                await studio.erase("lead", new_id())
        assert studio.calls.calls == 0, "nobody is erased"


async def test_a_record_that_appears_meanwhile_is_not_erased_behind_the_logs_back(database_url: str) -> None:
    """The log has not heard of it: 503, and the next erasure finds it again by the email."""
    async with opened_studio(database_url) as studio:
        lead_id = await studio.create("forms", "/leads", email=EMAIL, first_name="Adelheid")

        async def join() -> None:
            member = {"email": EMAIL, "first_name": "Adelheid", "last_name": "Quist"}
            await studio.create("bookings", "/members", **member)

        studio.calls.after_the_first = join
        with pytest.raises(Unavailable):
            await studio.erase("lead", lead_id)
        assert "bookings.members" in await studio.places_with_personal_data()
        await studio.erase("lead", lead_id)
        studio.bus.opened.set()
        await eventually(studio.has_no_outbox)
        assert await studio.places_with_personal_data() == []
