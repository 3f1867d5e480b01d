"""Every write of the partner API takes an Idempotency-Key. The list is the routing table's own."""

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from shared.routing import ANY_KEY, GATEWAY, ROUTES, SCOPES, PartnerRoute
from shared.wire import new_id
from tests.harness.bookable_studio import bookable
from tests.harness.databases import connected
from tests.harness.eventually import eventually
from tests.harness.http import Client, Reply
from tests.harness.system import System, new_studio_in, separate_services

# They write nothing, and ignore the key.
PREVIEWS = {
    "POST /bookings/preview",
    "POST /bookings/{booking_id}/reschedule/preview",
    "POST /forms/{form_id}/evaluate",
}
# The field that is shown once.
SECRETS = {
    "POST /webhook-endpoints": "secret",
    "POST /webhook-endpoints/{endpoint_id}/rotate-secret": "secret",
    "POST /console-sessions": "url",
}


class Write(Struct):
    """A request, and what makes it another one: its body, its query or the resource."""

    path: str
    body: Any = None
    query: dict[str, Any] = {}
    other: dict[str, Any] = {}

    def but(self) -> "Write":
        return Write(
            self.other.get("path", self.path),
            self.other.get("body", self.body),
            self.other.get("query", self.query),
        )


class Studio(Struct):
    system: System
    partner: Client
    class_ids: list[str]
    member_ids: list[str]

    async def form(self) -> str:
        body = {"title": f"Intake {new_id()}", "status": "published", "fields": []}
        return str((await self.partner.create("/forms", body))["id"])

    async def lead(self) -> str:
        return str((await self.partner.create("/leads", {"email": f"{new_id()}@example.com"}))["id"])

    async def endpoint(self) -> str:
        return str((await self.partner.create("/webhook-endpoints", an_endpoint()))["id"])

    async def delivery(self) -> str:
        endpoint = await self.endpoint()
        return str((await self.partner.post(f"/webhook-endpoints/{endpoint}/test")).json()["id"])

    async def booking(self) -> str:
        made = await self.partner.book(self.class_ids[0], self.member_ids[2])
        return str(made.json()["id"])


def an_endpoint() -> dict[str, Any]:
    return {"url": "http://127.0.0.1:9/hook", "event_types": ["class.full"]}


async def new_booking(studio: Studio) -> Write:
    body = {"class_id": studio.class_ids[0], "member_id": studio.member_ids[0]}
    return Write("/bookings", body, other={"body": body | {"member_id": studio.member_ids[1]}})


async def confirmation(studio: Studio) -> Write:
    held = [
        await studio.partner.book(studio.class_ids[0], member_id, hold_seconds=900)
        for member_id in studio.member_ids[3:]
    ]
    path, another = [f"/bookings/{reply.json()['id']}/confirm" for reply in held]
    return Write(path, other={"path": another})


async def cancellation(studio: Studio) -> Write:
    return Write(f"/bookings/{await studio.booking()}", other={"query": {"reason": "ill"}})


async def move(studio: Studio) -> Write:
    path = f"/bookings/{await studio.booking()}/reschedule"
    body = {"class_id": studio.class_ids[1]}
    return Write(path, body, other={"body": body | {"max_late_fee": "0"}})


async def new_member(studio: Studio) -> Write:
    body = {"first_name": "Ada", "last_name": "L", "email": f"{new_id()}@example.com"}
    return Write("/members", body, other={"body": body | {"last_name": "M"}})


async def new_form(studio: Studio) -> Write:
    body = {"title": f"Intake {new_id()}", "fields": []}
    return Write("/forms", body, other={"body": body | {"settings": {"extra": 1}}})


async def changed_form(studio: Studio) -> Write:
    return Write(f"/forms/{await studio.form()}", {"title": "B"}, other={"body": {"title": "C"}})


async def new_submission(studio: Studio) -> Write:
    body = {"submitter_email": "a@example.com", "data": {}}
    path = f"/forms/{await studio.form()}/submissions"
    return Write(path, body, other={"body": body | {"submitter_name": "Ada"}})


async def new_lead(studio: Studio) -> Write:
    body = {"email": f"{new_id()}@example.com"}
    return Write("/leads", body, other={"body": body | {"metadata": {"n": 1}}})


def changed_lead(end: str) -> Callable[[Studio], Awaitable[Write]]:
    async def write(studio: Studio) -> Write:
        path = f"/leads/{await studio.lead()}{end}"
        return Write(path, {"first_name": "Ada"}, other={"body": {"first_name": "Grace"}})

    return write


async def new_endpoint(studio: Studio) -> Write:
    return Write("/webhook-endpoints", an_endpoint(), other={"body": an_endpoint() | {"fifo": True}})


def of_endpoint(end: str = "", body: Any = None, other: Any = None) -> Callable[[Studio], Awaitable[Write]]:
    async def write(studio: Studio) -> Write:
        path, another = [f"/webhook-endpoints/{await studio.endpoint()}{end}" for _ in range(2)]
        return Write(path, body, other={"body": other} if other else {"path": another})

    return write


async def retried_delivery(studio: Studio) -> Write:
    path, another = [f"/webhook-deliveries/{await studio.delivery()}/retry" for _ in range(2)]
    return Write(path, other={"path": another})


async def console_link(studio: Studio) -> Write:
    return Write("/console-sessions", {"expires_in": 600}, other={"body": {"expires_in": 900}})


SINCE = [{"since": (datetime.now(UTC) - timedelta(hours=hours)).isoformat()} for hours in (1, 2)]
WRITES: dict[str, Callable[[Studio], Awaitable[Write]]] = {
    "POST /console-sessions": console_link,
    "POST /members": new_member,
    "POST /bookings": new_booking,
    "DELETE /bookings/{booking_id}": cancellation,
    "POST /bookings/{booking_id}/reschedule": move,
    "POST /bookings/{booking_id}/confirm": confirmation,
    "POST /forms": new_form,
    "PUT /forms/{form_id}": changed_form,
    "POST /forms/{form_id}/submissions": new_submission,
    "POST /leads": new_lead,
    "PATCH /leads/{lead_id}": changed_lead(""),
    "POST /leads/{lead_id}/update": changed_lead("/update"),
    "POST /webhook-endpoints": new_endpoint,
    "PATCH /webhook-endpoints/{endpoint_id}": of_endpoint("", {"fifo": True}, {"fifo": False}),
    "DELETE /webhook-endpoints/{endpoint_id}": of_endpoint(),
    "POST /webhook-endpoints/{endpoint_id}/rotate-secret": of_endpoint("/rotate-secret"),
    "POST /webhook-endpoints/{endpoint_id}/test": of_endpoint("/test"),
    "POST /webhook-endpoints/{endpoint_id}/recover": of_endpoint("/recover", *SINCE),
    "POST /webhook-deliveries/{delivery_id}/retry": retried_delivery,
}


def named(route: PartnerRoute) -> str:
    return f"{route.method} {route.path}"


EVERY_WRITE = [route for route in ROUTES if route.method != "GET" and named(route) not in PREVIEWS]
every_write = pytest.mark.parametrize("route", EVERY_WRITE, ids=named)


@pytest.fixture
async def studio(system: System) -> Studio:
    return await studio_in(system)


async def studio_in(system: System) -> Studio:
    made = bookable(classes=2, members=5)
    await system.import_lines(json.loads(json.dumps(made.lines, default=datetime.isoformat)))
    return Studio(system, system.partner(await system.key()), made.class_ids, made.member_ids)


async def send(partner: Client, route: PartnerRoute, write: Write, key: str) -> Reply:
    headers = {"Idempotency-Key": key}
    return await partner.send(route.method, write.path, write.body, headers=headers, **write.query)


def is_replay(reply: Reply) -> bool:
    return reply.headers.get("Idempotent-Replayed") == "true"


def without_secret(route: PartnerRoute, reply: Reply) -> Any:
    """What a replay shows: the same bytes, but for a secret that is shown once."""
    if named(route) not in SECRETS:
        return reply.body
    assert reply.json()[SECRETS[named(route)]]
    return reply.json() | {SECRETS[named(route)]: None}


def shown(route: PartnerRoute, reply: Reply) -> Any:
    return reply.json() if named(route) in SECRETS else reply.body


async def events(studio: Studio) -> list[str]:
    """All that were written up to now, without the last of each service, which are made here."""
    email = f"last-{new_id()}@example.com"

    def has_come(page: Any) -> bool:
        return any(event["data"]["object"]["email"] == email for event in page["data"])

    await studio.partner.create("/members", {"first_name": "A", "last_name": "B", "email": email})
    await studio.partner.until("/events", has_come, type="member.created", order="desc")
    await studio.partner.create("/leads", {"email": email})
    await studio.partner.until("/events", has_come, type="lead.created", order="desc")
    rows = await studio.partner.everything("/events")
    return [row["id"] for row in rows if not row["data"]["object"].get("email", "").startswith("last-")]


@every_write
async def test_a_repeated_write_has_one_effect(studio: Studio, route: PartnerRoute) -> None:
    """Its first response comes again, also for another key of the client, but only with the scope."""
    system, key = studio.system, new_id()
    write = await WRITES[named(route)](studio)
    first = await send(studio.partner, route, write, key)
    assert first.status < 300, first.body
    assert not is_replay(first)
    after = await events(studio)
    again = await send(studio.partner, route, write, key)
    assert (again.status, is_replay(again)) == (first.status, True), again.body
    assert shown(route, again) == without_secret(route, first)
    rotated = system.partner(await system.key())
    assert (await send(rotated, route, write, key)).body == again.body
    assert await events(studio) == after
    other = await send(studio.partner, route, write.but(), key)
    assert (other.status, other.code) == (409, "idempotency_key_reused")
    state = (await rotated.get(f"/idempotency-keys/{key}")).json()
    assert (state["status"], state["http_status"], state["route"]) == (
        "succeeded",
        first.status,
        named(route),
    )
    stranger = system.partner(await system.key(client="stranger"))
    assert not is_replay(await send(stranger, route, write, key))
    if route.scope != ANY_KEY:
        less = system.partner(await system.key([scope for scope in SCOPES if scope != route.scope]))
        assert (await send(less, route, write, key)).status == 403


async def test_what_a_submission_says_is_not_taken_for_a_refusal(studio: Studio) -> None:
    """A draft is hidden from keys that do not manage forms, and so is the refusal that tells of one."""
    narrow = studio.system.partner(await studio.system.key(["forms:read", "form_submissions:write"]))
    path, key = f"/forms/{await studio.form()}/submissions", new_id()
    body = {"submitter_email": "a@example.com", "submitter_name": "form_not_published", "data": {}}
    for replayed in (False, True):
        reply = await narrow.post(path, body, headers={"Idempotency-Key": key})
        assert (reply.status, is_replay(reply)) == (201, replayed), reply.body


async def test_objects_are_the_same_whatever_the_order_of_their_fields(studio: Studio) -> None:
    body, headers = {"email": f"{new_id()}@example.com"}, {"Idempotency-Key": new_id()}
    first = await studio.partner.post("/leads", body | {"metadata": {"a": 1, "b": 2}}, headers=headers)
    assert first.status == 201, first.body
    again = await studio.partner.post("/leads", {"metadata": {"b": 2, "a": 1}} | body, headers=headers)
    assert is_replay(again), again.body


async def test_a_refusal_is_repeated_only_to_keys_that_would_get_it(studio: Studio) -> None:
    """Such a key is refused for another reason, as it would be without the first request."""
    every = studio.system.partner(await studio.system.key())
    endpoint = await studio.endpoint()
    delivery = str((await every.post(f"/webhook-endpoints/{endpoint}/test")).json()["id"])
    await every.send("PATCH", f"/webhook-endpoints/{endpoint}", {"status": "disabled"})
    path, headers = f"/webhook-deliveries/{delivery}/retry", {"Idempotency-Key": new_id()}
    assert (await every.post(path, headers=headers)).code == "endpoint_disabled"
    assert is_replay(await every.post(path, headers=headers))
    narrow = studio.system.partner(await studio.system.key(["webhooks:read", "webhooks:write"]))
    refused = await narrow.post(path, headers=headers)
    assert (refused.status, is_replay(refused)) == (403, False), refused.body
    link, headers = {"scopes": ["members:read"]}, {"Idempotency-Key": new_id()}
    assert (await every.post("/console-sessions", link, headers=headers)).status == 201
    assert (await narrow.post("/console-sessions", link, headers=headers)).status == 422


async def test_a_move_needs_two_scopes(studio: Studio) -> None:
    """The first that is missing is named."""
    path = f"/bookings/{await studio.booking()}/reschedule"
    read = ["bookings:read"]
    for granted, missing in (
        (read, "bookings:write"),
        ([*read, "bookings:cancel"], "bookings:write"),
        ([*read, "bookings:write"], "bookings:cancel"),
    ):
        less = studio.system.partner(await studio.system.key(granted))
        # Before anything else is looked at.
        reply = await less.post(path, {"class_id": "no id"})
        assert (reply.status, reply.json()["error"]["details"]["required_scope"]) == (403, missing)


@every_write
async def test_two_at_once_have_one_effect(studio: Studio, route: PartnerRoute) -> None:
    write, key = await WRITES[named(route)](studio), new_id()
    replies = await asyncio.gather(*(send(studio.partner, route, write, key) for _ in range(2)))
    assert [reply.status < 300 for reply in replies] == [True, True], [reply.body for reply in replies]
    assert sorted(map(is_replay, replies)) == [False, True]


async def test_previews_ignore_the_key(studio: Studio) -> None:
    body = {"class_id": studio.class_ids[0], "member_id": studio.member_ids[0]}
    for key in ("short", new_id()):
        reply = await studio.partner.post("/bookings/preview", body, headers={"Idempotency-Key": key})
        assert reply.status == 200
    assert (await studio.partner.get(f"/idempotency-keys/{key}")).status == 404


@pytest.mark.timeout(180)
async def test_a_write_whose_response_was_lost_is_repeated(
    database_url: str, amqp_url: str, tmp_path: Path
) -> None:
    """The gateway is killed after the commit, before it has passed the response on: once for each owner.

    For the other writes the partner hangs up at that moment.
    """
    killed_for: set[str] = set()
    with separate_services(tmp_path, database_url, amqp_url) as running:
        async with new_studio_in(running) as system:
            studio = await studio_in(system)
            for route in EVERY_WRITE:
                await repeat_a_lost(studio, route, kill=route.owner not in killed_for)
                killed_for.add(route.owner)


async def repeat_a_lost(studio: Studio, route: PartnerRoute, *, kill: bool) -> None:
    running, key = studio.system.running, new_id()
    write = await WRITES[named(route)](studio)
    gateway = running.processes["gateway"]
    assert gateway.child is not None
    async with connected(running.database_url(route.owner)) as conn:
        async with conn.transaction():
            # The response cannot be stored yet, so the write waits.
            await conn.execute(f"LOCK TABLE {route.owner}.idempotency_keys IN EXCLUSIVE MODE")
            lost = asyncio.create_task(send(studio.partner, route, write, key))
            await eventually(lambda: conn.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))
            if route.owner != GATEWAY:
                gateway.child.send_signal(signal.SIGSTOP)
        stored = f"SELECT count(*) FROM {route.owner}.idempotency_keys WHERE key = $1"  # noqa: S608
        await eventually(lambda: conn.fetchval(stored, key))
    if kill:
        gateway.kill()
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    if kill:
        gateway.start()
        gateway.wait_ready()
    else:
        gateway.child.send_signal(signal.SIGCONT)
    again = await send(studio.partner, route, write, key)
    assert again.status < 300 and is_replay(again), (named(route), again.body)
