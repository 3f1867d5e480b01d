"""Following the event log without a public address: `GET /events?after_sequence=N&wait=S`."""

import asyncio
import signal
import time
from typing import Any

import pytest

from shared.wire import new_id
from tests.harness.console import session_of, with_session
from tests.harness.http import Client, Reply
from tests.harness.system import RunningSystem, System, new_studio_in


@pytest.fixture
async def partner(system: System) -> Client:
    return system.partner(await system.key())


async def lead(partner: Client) -> str:
    made = await partner.create("/leads", {"email": f"{new_id()}@example.com"})
    return str(made["id"])


async def timed(waiting: Any) -> tuple[Reply, float]:
    began = time.monotonic()
    return await waiting, time.monotonic() - began


async def test_a_wait_ends_with_the_first_event(partner: Client) -> None:
    """At once if there is one already, otherwise as soon as it is logged; empty when the time is over."""
    first = await lead(partner)
    page, _ = await timed(partner.get("/events", after_sequence=0, wait=20))
    assert [event["resource"]["id"] for event in page.json()["data"]] == [first]
    after = page.json()["latest_sequence"]
    empty, seconds = await timed(partner.get("/events", after_sequence=after, wait=1))
    assert (empty.json()["data"], empty.json()["latest_sequence"]) == ([], after)
    assert 1 <= seconds < 5
    waiting = asyncio.create_task(timed(partner.get("/events", after_sequence=after, wait=20)))
    await asyncio.sleep(0.3)
    second = await lead(partner)
    page, seconds = await waiting
    assert [event["resource"]["id"] for event in page.json()["data"]] == [second]
    assert seconds < 15


async def test_only_what_the_key_sees_and_the_filter_takes_ends_a_wait(system: System) -> None:
    """What it may not see is passed over, and not waited for again."""
    everything = system.partner(await system.key())
    forms_only = system.partner(await system.key(["forms:read", "webhooks:read"]))
    waits = [
        asyncio.create_task(forms_only.get("/events", after_sequence=0, wait=2)),
        asyncio.create_task(everything.get("/events", after_sequence=0, wait=2, type="member.created")),
        asyncio.create_task(everything.get("/events", after_sequence=0, wait=20, request_id="mine-1")),
    ]
    await asyncio.sleep(0.3)
    await lead(everything)
    body = {"email": f"{new_id()}@example.com"}
    await everything.post("/leads", body, headers={"X-Request-Id": "mine-1"})
    hidden, typed, mine = [(await one).json() for one in waits]
    assert hidden["data"] == typed["data"] == []
    assert hidden["latest_sequence"] == typed["latest_sequence"] == 2
    assert [event["request_id"] for event in mine["data"]] == ["mine-1"]


async def test_a_follower_sees_every_event_once_in_order(partner: Client) -> None:
    made: list[str] = []

    async def write() -> None:
        for _ in range(30):
            made.append(await lead(partner))

    seen: list[str] = []
    after = 0
    writing = asyncio.create_task(write())
    async with asyncio.timeout(60):
        while len(seen) < 30:
            page = (await partner.get("/events", after_sequence=after, wait=5, limit=7)).json()
            seen += [event["resource"]["id"] for event in page["data"]]
            after = page["data"][-1]["sequence"] if page["data"] else page["latest_sequence"]
    await writing
    assert seen == made


async def test_waits_that_make_no_sense_are_refused(partner: Client) -> None:
    await lead(partner)
    page = await partner.until("/events")
    event = page["data"][0]["id"]
    for query in (
        {"wait": 1},
        {"wait": 1, "after_sequence": 0, "cursor": event},
        {"wait": 1, "after_sequence": 0, "order": "desc"},
        {"wait": 26, "after_sequence": 0},
        {"wait": -1, "after_sequence": 0},
        {"wait": "soon", "after_sequence": 0},
        {"wait": "1.5", "after_sequence": 0},
    ):
        refused = await partner.get("/events", **query)
        assert refused.status == 422, query
        assert refused.json()["detail"][0]["loc"] == ["query", "wait"], query


async def test_a_client_waits_ten_times_at_once(system: System, partner: Client) -> None:
    """Others are not affected, and places become free."""
    waits = [asyncio.create_task(partner.get("/events", after_sequence=0, wait=20)) for _ in range(11)]
    done, left = await asyncio.wait(waits, timeout=10, return_when=asyncio.FIRST_COMPLETED)
    (refused,) = [one.result() for one in done]
    assert (refused.status, refused.code) == (429, "too_many_waits")
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert refused.headers["Retry-After"] == "1"
    other = system.partner(await system.key(client="another"))
    assert (await other.get("/events", after_sequence=0, wait=1)).status == 200
    left.pop().cancel()
    async with asyncio.timeout(10):
        while (await partner.get("/events", after_sequence=0, wait=1)).status != 200:
            await asyncio.sleep(0.1)
    await lead(partner)
    assert {(await one).status for one in left} == {200}


async def test_those_that_wait_together_get_the_same_page(partner: Client) -> None:
    """Each with its own request id, and with the hanging up of one of them the others wait on."""
    waits = [
        asyncio.create_task(
            partner.send(
                "GET", "/events?after_sequence=0&wait=20", headers={"X-Request-Id": f"worker-{number}"}
            )
        )
        for number in range(10)
    ]
    await asyncio.sleep(0.5)
    waits.pop(0).cancel()
    await asyncio.sleep(0.2)
    made = await lead(partner)
    for number, waiting in enumerate(waits, start=1):
        reply = await waiting
        assert [event["resource"]["id"] for event in reply.json()["data"]] == [made]
        assert reply.headers["X-Request-Id"] == f"worker-{number}"


async def test_a_narrower_session_of_the_same_key_gets_its_own_page(system: System) -> None:
    """Also if it waits for the same page at the same moment."""
    key = await system.key()
    session = with_session(system, await session_of(system, key, scopes=["forms:read", "webhooks:read"]))
    waits = [
        asyncio.create_task(one.get("/events", after_sequence=0, wait=10))
        for one in (system.partner(key), session)
    ]
    await asyncio.sleep(0.5)
    made = await lead(system.partner(key))
    everything, narrow = [(await one).json() for one in waits]
    assert [event["resource"]["id"] for event in everything["data"]] == [made]
    assert narrow["data"] == []


async def test_a_key_that_ends_during_the_wait_gets_nothing(system: System) -> None:
    issued = await system.issue()
    waiting = asyncio.create_task(system.partner(issued["key"]).get("/events", after_sequence=0, wait=20))
    await asyncio.sleep(0.3)
    assert (await system.operator.post(f"/keys/{issued['id']}/revoke", {})).status == 200
    await asyncio.sleep(2.5)
    await lead(system.partner(await system.key(client="another")))
    assert (await waiting).status == 401


async def test_events_that_are_not_kept_any_more_are_told(system: System, partner: Client) -> None:
    """410 with the oldest one, so that a follower knows that it has missed some. Their deliveries go, too."""
    endpoint = await partner.create("/webhook-endpoints", {"url": "http://127.0.0.1:9/"})
    for _ in range(3):
        await lead(partner)
    await partner.until("/events", lambda page: page["latest_sequence"] == 3)
    prune = f"/studios/{system.studio_id}/events/prune"
    assert (await system.operator.post(prune, {"through": 2})).json()["dropped"] == 2
    for after in (0, 1):
        gone = await partner.get("/events", after_sequence=after)
        assert (gone.status, gone.code) == (410, "events_expired")
        assert gone.json()["error"]["type"] == "not_found"
        assert gone.json()["error"]["details"] == {"oldest_sequence": 3}
    events = (await system.anyone.get("/openapi.json")).json()["paths"]["/events"]["get"]
    examples = events["responses"]["410"]["content"]["application/json"]["examples"]
    [example] = [one["value"] for one in examples.values()]
    assert example["error"]["details"].keys() == {"oldest_sequence"}, "the document shows it as it is"
    changes = {name: example["error"][name] for name in ("details", "request_id")}
    assert example == {"error": gone.json()["error"] | changes}
    page = (await partner.get("/events", after_sequence=2)).json()
    assert [event["sequence"] for event in page["data"]] == [3] and page["oldest_sequence"] == 3
    left = (await partner.get(f"/webhook-endpoints/{endpoint['id']}/deliveries")).json()["data"]
    assert [one["event_id"] for one in left] == [page["data"][0]["id"]]
    assert (await partner.get("/events")).status == 200
    assert (await system.operator.post(prune, {"through": 100})).json()["dropped"] == 1
    none = (await partner.get("/events", after_sequence=3)).json()
    assert (none["latest_sequence"], none["oldest_sequence"]) == (3, 4)
    assert (await partner.get("/events", after_sequence=2)).status == 410
    manager = system.staff((await system.staff_token("manager"))["token"])
    assert (await manager.post(prune, {"through": 1})).status == 403
    await lead(partner)
    resumed = (await partner.get("/events", after_sequence=3, wait=20)).json()
    assert [event["sequence"] for event in resumed["data"]] == [4]


async def test_a_wait_tells_which_event_is_the_oldest_now(system: System, partner: Client) -> None:
    """Also of events that were dropped while it waited, whether there is something new or not."""
    for _ in range(3):
        await lead(partner)
    await partner.until("/events", lambda page: page["latest_sequence"] == 3)
    waiting = asyncio.create_task(partner.get("/events", after_sequence=3, wait=20))
    await asyncio.sleep(0.5)
    await system.operator.post(f"/studios/{system.studio_id}/events/prune", {"through": 2})
    empty = (await partner.get("/events", after_sequence=3, wait=1)).json()
    assert (empty["latest_sequence"], empty["oldest_sequence"]) == (3, 3)
    await lead(partner)
    page = (await waiting).json()
    assert [event["sequence"] for event in page["data"]] == [4]
    assert (page["latest_sequence"], page["oldest_sequence"]) == (4, 3)


async def test_the_newest_first(partner: Client) -> None:
    """Page by page, down to `after_sequence`, with the filters."""
    for _ in range(5):
        await lead(partner)
    await partner.until("/events", lambda page: page["latest_sequence"] == 5)
    first = (await partner.get("/events", order="desc", limit=2)).json()
    assert [event["sequence"] for event in first["data"]] == [5, 4]
    rest = (await partner.get("/events", order="desc", cursor=first["next_cursor"], after_sequence=1)).json()
    assert [event["sequence"] for event in rest["data"]] == [3, 2] and not rest["has_more"]
    kind = (await partner.get("/events", order="desc", type="lead.created", limit=3)).json()
    assert [event["sequence"] for event in kind["data"]] == [5, 4, 3]
    assert (await partner.get("/events", order="sideways")).status == 422


@pytest.mark.parametrize("name", ["webhooks", "gateway"])
async def test_a_process_that_is_stopped_ends_its_waits_at_once(
    five_processes: RunningSystem, name: str
) -> None:
    """With an empty page, whether the event log or the gateway is stopped. It is started again for others."""
    process = five_processes.processes[name]
    async with new_studio_in(five_processes) as system:
        partner = system.partner(await system.key())
        waiting = asyncio.create_task(timed(partner.get("/events", after_sequence=0, wait=25)))
        await asyncio.sleep(0.5)
        assert process.child is not None
        process.child.send_signal(signal.SIGTERM)
        try:
            reply, seconds = await waiting
            assert (reply.status, reply.json()["data"]) == (200, []), name
            assert seconds < 10, name
        finally:
            process.stop()
            process.start()
            process.wait_ready()
