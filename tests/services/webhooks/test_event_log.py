"""The event log has every event once, in a gap-free sequence that is never visible out of order."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from services.webhooks.app import EventLogConsumer
from services.webhooks.followers import MOST, POLL_SECONDS
from services.webhooks.store import event_log
from services.webhooks.store.event_log import BY_KIND, StoredEvent
from shared.events.bus import EVENT_LOG, Message, Queue
from shared.events.bus.memory import MemoryBus
from shared.events.envelope import render
from shared.events.kinds import KINDS, BookingCreated, LeadCreated, MemberCreated
from shared.events.leases import Leases
from shared.wire import new_id, now
from tests.harness.eventually import eventually, until
from tests.harness.send_events import send_events
from tests.services.webhooks.studio_client import ALL_READS, StudioClient, message_of, open_studio_client


async def test_a_redelivered_event_is_stored_once(client: StudioClient) -> None:
    """The bus delivers at least once. The log stores it once, also within one batch."""
    event = client.event()
    message = message_of(event)
    await send_events(client.bus, [message] * 3)
    await asyncio.gather(*(send_events(client.bus, [message]) for _ in range(5)))
    await client.publish(client.event())
    shown = (await client.call("GET", "/events")).json()["data"]
    assert [e["sequence"] for e in shown] == [1, 2]
    assert shown[0]["id"] == event.id


async def read_while(client: StudioClient, writing: "asyncio.Task[None]") -> list[list[int]]:
    """What a reader sees, again and again while others write."""
    views = []
    while not writing.done():
        rows = await client.sql(
            "SELECT sequence FROM events WHERE studio_id = $1 ORDER BY 1", client.studio_id
        )
        views.append([row["sequence"] for row in rows])
    return views


def out_of_order(views: list[list[int]]) -> bool:
    """Whether a reader saw a number before a lower one."""
    return any(view != list(range(1, len(view) + 1)) for view in views)


def stored(client: StudioClient, sequence: int) -> StoredEvent:
    return StoredEvent(
        studio_id=client.studio_id,
        id=new_id(),
        sequence=sequence,
        type="booking.created",
        location_id=None,
        created_at=now(),
        body=b"{}",
    )


INSERT_ALONE = """
INSERT INTO events (studio_id, id, sequence, type, created_at, body)
VALUES ($1, $2, $3, 'booking.created', now(), '{}')
"""


async def write(client: StudioClient, number: int, *, lock: bool, counter: list[int]) -> None:
    """One writer; every fourth is rolled back after it took its number."""
    try:
        async with client.context.db.transaction() as conn:
            if lock:
                last = (await event_log.lock_counters(conn, [client.studio_id]))[client.studio_id]
                await event_log.insert_events(conn, [stored(client, last + 1)])
            else:
                counter[0] += 1
                await conn.execute(INSERT_ALONE, client.studio_id, new_id(), counter[0])
            await conn.execute("SELECT pg_sleep($1)", 0.004 * (number % 3))
            if number % 4 == 0:
                raise asyncpg.DataError("rolled back on purpose")
    except asyncpg.DataError:
        pass


@pytest.mark.parametrize("lock", [True, False], ids=["with the lock", "control: without it"])
async def test_an_event_is_never_visible_before_one_with_a_lower_sequence(
    client: StudioClient, lock: bool
) -> None:
    """Concurrent writers, some of which roll back. Without the counter's lock the race shows."""
    counter = [0]

    async def write_all() -> None:
        for start in range(0, 200, 10):
            await asyncio.gather(
                *(write(client, n, lock=lock, counter=counter) for n in range(start, start + 10))
            )

    views = await read_while(client, asyncio.create_task(write_all()))
    assert max(len(view) for view in views) > 20, "the reader saw too little to prove anything"
    assert out_of_order(views) is not lock


async def test_sequences_are_gap_free_when_many_publish_at_once(client: StudioClient) -> None:
    """Through the bus and the real handler, for two studios side by side."""
    other = new_id()
    await asyncio.gather(
        *(client.publish_some(20) for _ in range(5)),
        *(client.publish_some(20, studio_id=other) for _ in range(3)),
    )
    for studio, count in ((client.studio_id, 100), (other, 60)):
        rows = await client.sql("SELECT sequence FROM events WHERE studio_id = $1 ORDER BY 1", studio)
        assert [row["sequence"] for row in rows] == list(range(1, count + 1))


async def test_catching_up_by_sequence_and_by_cursor_sees_every_event_once(client: StudioClient) -> None:
    """`after_sequence` and `cursor` walk the same list."""
    ids = await client.publish_some(25)
    listed = (await client.call("GET", "/events", limit=200)).json()["data"]
    assert {e["id"] for e in listed} == set(ids)
    assert all(a["sequence"] + 1 == b["sequence"] for a, b in pairwise(listed))
    by_sequence: list[str] = []
    while page := (await client.call("GET", "/events", limit=7, after_sequence=len(by_sequence))).json()[
        "data"
    ]:
        by_sequence += [e["id"] for e in page]
    by_cursor: list[str] = []
    response = (await client.call("GET", "/events", limit=7)).json()
    by_cursor += [e["id"] for e in response["data"]]
    while response["has_more"]:
        response = (await client.call("GET", "/events", limit=7, cursor=response["next_cursor"])).json()
        by_cursor += [e["id"] for e in response["data"]]
    assert by_sequence == by_cursor == [e["id"] for e in listed]
    for wrong in (new_id(), "nonsense"):
        assert (await client.call("GET", "/events", cursor=wrong)).code == "invalid_cursor"
    assert (await client.call("GET", "/events", after_sequence=-1)).status == 422
    beyond = await client.call("GET", "/events", after_sequence=2**62)
    assert (beyond.status, beyond.json()["data"]) == (200, []), "the documented maximum is taken"
    assert (await client.call("GET", "/events", after_sequence=2**62 + 1)).status == 422


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ({"wait": 5}, ["wait"]),
        ({"wait": 5, "after_sequence": 0, "cursor": "any"}, ["wait"]),
        ({"wait": 5, "after_sequence": 0, "order": "desc", "limit": 0}, ["limit", "wait"]),
        ({"wait": 5, "limit": 201, "type": "no.such"}, ["limit", "type", "wait"]),
        ({"wait": 26, "limit": 0}, ["limit", "wait"]),
        ({"wait": "long", "cursor": "any"}, ["wait"]),
        ({"wait": 5, "after_sequence": -1}, ["after_sequence"]),
        ({"wait": 0, "limit": 0}, ["limit"]),
    ],
)
async def test_a_wrong_wait_is_listed_with_everything_else_that_is_wrong(
    client: StudioClient, query: dict[str, Any], wrong: list[str]
) -> None:
    """Whether its number is wrong, or it does not go with the other parameters."""
    refused = await client.call("GET", "/events", **query)
    assert refused.status == 422
    assert sorted(problem["loc"][1] for problem in refused.json()["detail"]) == wrong


async def test_the_log_shows_what_the_key_may_see(client: StudioClient) -> None:
    """Filtered by scope, location and kind. An event hidden in the list is 404 by id."""
    here, there = new_id(), new_id()
    booking_here = client.event(BookingCreated, location_id=here)
    booking_there = client.event(BookingCreated, location_id=there)
    nowhere = client.event(BookingCreated)
    lead, member = client.event(LeadCreated), client.event(MemberCreated)
    for event in (booking_here, booking_there, nowhere, lead, member):
        await client.publish(event)
    limited = client.caller(scopes=ALL_READS - {"leads:read"}, location_ids=(here,))
    shown = (await client.call("GET", "/events", caller=limited)).json()["data"]
    assert [e["id"] for e in shown] == [booking_here.id, member.id]
    assert [e["sequence"] for e in shown] == [1, 5], "a filtered view shows some of the sequence only"
    for hidden in (booking_there, nowhere, lead):
        assert (await client.call("GET", f"/events/{hidden.id}", caller=limited)).status == 404
    assert (await client.call("GET", f"/events/{member.id}", caller=limited)).status == 200
    only = (await client.call("GET", "/events", type="lead.created")).json()["data"]
    assert [e["id"] for e in only] == [lead.id]
    assert (await client.call("GET", "/events", type="no.such")).status == 422
    stranger = client.caller(studio_id=new_id())
    assert (await client.call("GET", "/events", caller=stranger)).json()["data"] == []
    assert (await client.call("GET", f"/events/{member.id}", caller=stranger)).status == 404


async def test_an_unreadable_message_is_parked_and_the_others_are_logged(client: StudioClient) -> None:
    """The sender is told that all of them are stored."""
    bad = Message("bad", "booking.created", b'{"not": "an event"}')
    unknown = client.event()
    strange = Message("strange", "class.moved", render(unknown).replace(b"booking.created", b"class.moved"))
    event = client.event()
    reply = await send_events(client.bus, [bad, message_of(event), strange])
    assert [one.event_id for one in reply.stored] == ["bad", event.id, "strange"], "nothing is sent again"
    shown = (await client.call("GET", "/events")).json()["data"]
    assert [one["id"] for one in shown] == [event.id]
    depths = (await client.call("GET", "/staff/queues", caller=client.operator)).json()["data"]
    assert {q["name"]: q["parked"] for q in depths}[EVENT_LOG.name] == 2
    assert (await client.call("GET", "/staff/queues", caller=client.caller())).status == 404, "operators only"


EVENTS, LIMIT = 20_000, 10
# An index scan for each kind takes a few blocks. Scanning the log for each took more than ten thousand.
MOST_BLOCKS = 20 * len(KINDS)
COPIES = """
INSERT INTO events (studio_id, id, sequence, type, created_at, body)
SELECT e.studio_id, gen_random_uuid(), e.sequence + n, e.type, e.created_at, e.body
FROM events e, generate_series(1, $1::int) n
"""


async def test_a_log_with_one_type_is_not_searched_for_the_others(database_url: str) -> None:
    """As after a first import: Postgres must not scan the log once for each type that is not in it."""
    async with open_studio_client(database_url) as client:
        await client.publish_some(1)
        await eventually(lambda: client.sql("SELECT 1 FROM events"))
    conn = await asyncpg.connect(database_url)
    await conn.execute("SET search_path = webhooks")
    await conn.execute(COPIES, EVENTS)
    await conn.execute("ANALYZE events")
    nowhere: list[str] = []
    caller = (client.studio_id, 0, list(KINDS), LIMIT, client.client_id, False)
    args = (*caller, nowhere, nowhere, nowhere, EVENTS + 1)
    found = await conn.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {BY_KIND}", *args)
    await conn.close()
    plan = json.loads(found)[0]["Plan"]
    assert plan["Actual Rows"] == LIMIT
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < MOST_BLOCKS


class LostBus(MemoryBus):
    """Without a connection to the broker once `lost` is set. Records what was assigned and held."""

    lost = False
    leases: Leases

    def __init__(self) -> None:
        super().__init__()
        self.assigned: list[tuple[frozenset[int], frozenset[int]]] = []

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        self.assigned.append((partitions, self.leases.held))

    def lost_seconds(self, queue: Queue) -> float:
        return 60.0 if self.lost else 0.0


async def test_the_consumer_gives_up_its_partitions_before_the_leases(database_url: str) -> None:
    """A database that hangs delays the release. Until then the consumer would come back without leases."""
    async with open_studio_client(database_url, webhooks_only="dispatch") as client:
        bus = LostBus()
        consumer = EventLogConsumer(structs.replace(client.context, bus=bus))
        bus.leases = consumer._leases
        [step] = [loop.step for loop in consumer.loops if loop.name == "webhooks-partitions"]
        await step()
        mine, none = EVENT_LOG.all_partitions, frozenset[int]()
        assert bus.assigned == [(mine, mine)]
        bus.lost = True
        await step()
        assert bus.assigned[1:] == [(none, mine), (none, none)]


async def test_a_follower_of_a_restored_log_reads_it_now_and_then(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others were told of events that the log has lost since."""
    followed = client.context.followers._followed
    await client.publish(client.event())
    waiting = asyncio.create_task(client.call("GET", "/events", after_sequence=1, wait=20))
    await until(lambda: client.studio_id in followed)
    followed[client.studio_id].told = 5
    lookups = 0
    position = event_log.position

    async def counted(*given: Any) -> int:
        nonlocal lookups
        lookups += 1
        return await position(*given)

    monkeypatch.setattr(event_log, "position", counted)
    late = await client.call("GET", "/events", after_sequence=1, wait=1)
    waiting.cancel()
    assert late.json()["data"] == []
    assert 0 < lookups <= 1 / POLL_SECONDS + 1


async def test_a_follower_is_told_whether_there_is_more_than_one_step_reads(client: StudioClient) -> None:
    """Of a burst it gets a full page, with the newest sequence."""
    followed = client.context.followers._followed
    await client.publish(client.event())
    waits = [
        asyncio.create_task(client.call("GET", "/events", after_sequence=1, wait=20, limit=limit))
        for limit in (200, 30)
    ]
    await until(lambda: client.studio_id in followed)
    await client.publish(*(client.event() for _ in range(MOST + 25)))
    whole, part = [(await one).json() for one in waits]
    for page, count in ((whole, MOST + 25), (part, 30)):
        assert [one["sequence"] for one in page["data"]] == list(range(2, 2 + count))
        assert page["latest_sequence"] == MOST + 26
        assert page["has_more"] == (page is part)
