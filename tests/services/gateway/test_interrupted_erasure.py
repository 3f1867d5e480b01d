"""An erasure that was interrupted anywhere is finished by repeating it, whatever is on its way meanwhile."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import asyncpg
import pytest

from services.all_in_one import OPEN_SERVICE
from services.gateway.actions.erase_person import Kind, erase_person
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.upstream import AsgiUpstream, OutcomeUnknown, Upstream, UpstreamAnswer
from shared.errors import UpstreamTimeout
from shared.events.bus import Batch, Link, OnReply, Queue
from shared.events.bus.memory import MemoryBus
from shared.http.caller import CALLER_HEADER, Caller, CallerSigner
from shared.settings import Settings
from shared.wire import encode, new_id
from tests.harness.database_layout import open_database, urls_of_service
from tests.harness.eventually import eventually, until

KEY = "k" * 32
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

    async def send(self, batch: Batch) -> None:
        self._bus.held.update(message.topic for message in batch.messages)
        await self._bus.opened.wait()
        await self._link.send(batch)

    async def close(self) -> None:
        await self._link.close()


async def nothing() -> None:
    return None


class Interrupted:
    """All calls of an erasure. Of the one numbered `fails_at`, the answer or already the request is lost."""

    def __init__(self, upstreams: dict[str, AsgiUpstream]) -> None:
        self.upstreams = upstreams
        self.calls = 0
        self.fails_at: int | None = None
        self.loses_request = False
        self.after_the_first: Callable[[], Awaitable[object]] = nothing

    def of(self, name: str) -> Upstream:
        return cast(Upstream, _Link(self, self.upstreams[name]))


class _Link:
    def __init__(self, interrupted: Interrupted, upstream: AsgiUpstream) -> None:
        self._interrupted = interrupted
        self._upstream = upstream

    async def request(self, method: bytes, target: bytes, headers: Any, body: bytes) -> UpstreamAnswer:
        if target != b"/internal/erase":
            return await self._upstream.request(method, target, headers, body)
        self._interrupted.calls += 1
        is_lost = self._interrupted.calls == self._interrupted.fails_at
        if is_lost and self._interrupted.loses_request:
            raise OutcomeUnknown("the request is lost")
        answer = await self._upstream.request(method, target, headers, body)
        if self._interrupted.calls == 1:
            await self._interrupted.after_the_first()
        if is_lost:
            raise OutcomeUnknown("the answer is lost")
        return answer


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
        answer = await self.calls.upstreams[service].request(b"POST", path.encode(), headers, encode(body))
        assert answer.status == 201, answer.body
        return str(json.loads(answer.body)["id"])

    async def erase(self, kind: Kind, person_id: str) -> None:
        await erase_person(self.operators, kind, person_id, self.studio_id, "r")

    async def rows(self, sql: str) -> list[Any]:
        conn: asyncpg.Connection[Any] = await asyncpg.connect(self.url)
        try:
            return list(await conn.fetch(sql))
        finally:
            await conn.close()

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
        db = await open_database(database_url, "gateway", size=2)
        stack.push_async_callback(db.close)
        calls = Interrupted(upstreams)
        operators = OperatorContext(
            db=db,
            key_cache=cast(Any, None),
            peppers=(),
            signers=dict.fromkeys(upstreams, CallerSigner((KEY,))),
            upstreams={name: calls.of(name) for name in upstreams},
            checks={},
        )
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


@pytest.mark.parametrize("kind", ["member", "lead"])
@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
async def test_a_repeated_erasure_finishes_one_whose_answer_was_lost(
    database_url: str, kind: Kind, fails_at: int
) -> None:
    """The person's events are on their way all the time, and are logged after the second answer."""
    async with studio_with_a_person(database_url) as (studio, ids):
        studio.calls.fails_at = fails_at
        with pytest.raises(UpstreamTimeout):
            await studio.erase(kind, ids[kind])
        await studio.erase(kind, ids[kind])
        assert await studio.places_with_personal_data() == []
        studio.bus.opened.set()
        await eventually(studio.has_no_outbox)
        assert await studio.places_with_personal_data() == []
        logged = [row["type"] for row in await studio.rows("SELECT type FROM webhooks.events")]
        assert {"lead.created", "member.created", "lead.erased", "member.erased"} <= set(logged)


@pytest.mark.parametrize("kind", ["member", "lead"])
@pytest.mark.parametrize("fails_at", [2, 3, 4])
async def test_a_repeated_erasure_finds_what_was_logged_between_two_calls_of_the_first(
    database_url: str, kind: Kind, fails_at: int
) -> None:
    """The person's events arrive after the first call: no outbox has them when the rows are erased."""
    async with studio_with_a_person(database_url) as (studio, ids):

        async def arrive() -> None:
            studio.bus.opened.set()
            await eventually(studio.has_no_outbox)

        studio.calls.after_the_first = arrive
        studio.calls.fails_at, studio.calls.loses_request = fails_at, True
        with pytest.raises(UpstreamTimeout):
            await studio.erase(kind, ids[kind])
        await studio.erase(kind, ids[kind])
        await eventually(studio.has_no_outbox)
        assert await studio.places_with_personal_data() == []
