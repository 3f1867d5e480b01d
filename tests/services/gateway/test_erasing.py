"""Erasing a person through the operators' API: one person in every service, and safe to repeat."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from services.gateway.actions.erase_person import erase_person
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.upstream import Upstream, UpstreamAnswer
from shared.db.database import Database
from shared.errors import NotFound, Unavailable
from shared.http.caller import CallerSigner
from shared.wire import encode, new_id
from tests.harness.database_layout import open_database
from tests.harness.http import Client
from tests.harness.system import System


class FakeService:
    """A service that returns prepared answers and records its requests."""

    def __init__(self, erased: dict[str, Any], found: tuple[int, dict[str, Any]] = (404, {})) -> None:
        self.erased = erased
        self.found = found
        self.bodies: list[dict[str, Any]] = []
        # What it answers from the second call on.
        self.then: list[dict[str, Any]] = []

    async def request(self, method: bytes, target: bytes, headers: Any, body: bytes) -> UpstreamAnswer:
        if method == b"GET":
            return UpstreamAnswer(status=self.found[0], headers=[], body=encode(self.found[1]))
        self.bodies.append(msgspec.json.decode(body))
        erased = self.then.pop(0) if len(self.bodies) > 1 and self.then else self.erased
        return UpstreamAnswer(status=200, headers=[], body=encode(erased))


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = await open_database(database_url, "gateway", size=2)
    try:
        async with db.transaction() as conn:
            await studios.upsert(conn, [{"id": new_id(), "slug": "s", "name": "S", "timezone": "UTC"}])
        yield db
    finally:
        await db.close()


def operators(db: Database, **services: FakeService) -> OperatorContext:
    upstreams = cast(dict[str, Upstream], services)
    return OperatorContext(
        db=db,
        key_cache=cast(Any, None),
        peppers=(),
        signers=dict.fromkeys(upstreams, CallerSigner(("k",))),
        upstreams=upstreams,
        checks={},
    )


async def test_only_a_404_means_that_the_person_is_not_there(db: Database) -> None:
    """A failing service does not prove that the id is unknown: 503, erase again."""
    for status, error in ((404, NotFound), (500, Unavailable), (403, Unavailable)):
        forms = FakeService({}, found=(status, {}))
        with pytest.raises(error):
            await erase_person(operators(db, forms=forms), "lead", new_id(), None, "r")
        assert forms.bodies == []


async def test_the_event_log_knows_everybody_before_a_row_is_erased(db: Database) -> None:
    """The other service names whom it finds, the log gets all ids; the owner has the email and is last."""
    lead_id, member_id = new_id(), new_id()
    forms = FakeService({"leads": 1, "emails": ["ann@example.com", "old@example.com"], "lead_ids": [lead_id]})
    forms.found = (200, {"email": "ann@example.com"})
    bookings = FakeService({"members": 1, "emails": ["ann@example.com"], "member_ids": [member_id]})
    webhooks = FakeService({"events": 2, "deliveries": 0})
    services = operators(db, forms=forms, bookings=bookings, webhooks=webhooks)
    done = await erase_person(services, "lead", lead_id, "s", "r")
    first = {"studio_id": done["studio_id"], "lead_ids": [lead_id], "emails": ["ann@example.com"]}
    both = first | {"member_ids": [member_id]}
    assert bookings.bodies == [first, both]
    assert webhooks.bodies == [both]
    assert forms.bodies == [both]
    assert done["erased"] == {"webhooks": {"events": 2, "deliveries": 0}, "bookings": {"members": 2},
                              "forms": {"leads": 1}}  # fmt: skip


async def test_a_record_that_appears_meanwhile_is_not_erased_behind_the_logs_back(db: Database) -> None:
    """The log has not heard of it: 503, and the next erasure finds it again by the email."""
    member_id = new_id()
    forms, webhooks = FakeService({"lead_ids": []}), FakeService({})
    bookings = FakeService({"member_ids": [member_id]}, found=(200, {"email": "ann@example.com"}))
    forms.then = [{"lead_ids": [new_id()]}]
    with pytest.raises(Unavailable):
        services = operators(db, forms=forms, bookings=bookings, webhooks=webhooks)
        await erase_person(services, "member", member_id, "s", "r")
    assert bookings.bodies == [], "the row with the email is still there"


async def until_the_lead_converted(client: Client) -> None:
    """The person's events are in the event log: lead created, member created, lead converted."""
    async with asyncio.timeout(30):
        while len((await client.get("/events")).json()["data"]) < 3:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("kind", ["member", "lead"])
async def test_a_person_who_is_lead_and_member_is_erased_whole_from_either_side(
    system: System, kind: str
) -> None:
    """The email is nowhere afterwards: not in members, leads or events; doing it again changes nothing."""
    client = system.partner(await system.key())
    email = f"both-{kind}-{system.studio_id}@example.com"
    lead = (await client.post("/leads", {"email": email, "first_name": "Ada", "source": "Ada's aunt"})).json()
    body = {"email": email, "first_name": "Ada", "last_name": "King"}
    member = (await client.post("/members", body)).json()
    await until_the_lead_converted(client)
    ids = {"member": member["id"], "lead": lead["id"]}
    path = f"/{kind}s/{ids[kind]}/erase"
    for _ in range(2):
        done = await system.operator.post(path)
        assert done.status == 200, done.body
    for shown in (f"/members/{member['id']}", f"/leads/{lead['id']}", "/members", "/leads", "/events"):
        answer = (await client.get(shown)).body
        assert email.encode() not in answer, shown
        assert b"Ada" not in answer, shown
