"""The event log has every event once, in a gap-free sequence that is never visible out of order."""

import asyncio
from itertools import pairwise
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from services.webhooks.actions.log_events import add_to_log
from services.webhooks.app import EventLogConsumer
from services.webhooks.followers import MOST
from services.webhooks.store.event_log import BY_KIND, begin_logging
from shared.events.bus import EVENT_LOG, Queue
from shared.events.bus.memory import MemoryBus
from shared.events.envelope import read_envelope
from shared.events.kinds import KINDS, FormSubmitted, LeadCreated, MemberCreated
from shared.events.leases import Leases
from shared.wire import new_id
from tests.harness.compressed_days import BlockCounter
from tests.harness.databases import connected
from tests.harness.eventually import eventually, until
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import ALL_READS, StudioClient, message_of, open_studio_client


async def read_while(client: StudioClient, writing: "asyncio.Task[None]") -> list[list[int]]:
    """What a reader sees, again and again while others write."""
    views = []
    while not writing.done():
        rows = await client.sql(
            "SELECT sequence FROM events WHERE studio_id = $1 ORDER BY 1", client.studio_id
        )
        views.append([row["sequence"] for row in rows])
    return views


INSERT_ALONE = """
INSERT INTO events (studio_id, id, sequence, type, created_at, body)
VALUES ($1, $2, $3, 'booking.created', now(), '{}')
"""


async def write(client: StudioClient, number: int, *, lock: bool, counter: list[int]) -> None:
    """One writer; every fourth is rolled back after it took its number."""
    try:
        async with client.context.db.transaction() as conn:
            if lock:
                await add_to_log(conn, [read_envelope(message_of(client.event()).body)])
            else:
                counter[0] += 1
                await conn.execute(INSERT_ALONE, client.studio_id, new_id(), counter[0])
            await conn.execute("SELECT pg_sleep($1)", 0.004 * (number % 3))
            if number % 4 == 0:
                raise asyncpg.DataError("rolled back on purpose")
    except asyncpg.DataError:
        pass


async def test_a_counter_that_another_writer_has_just_made_is_locked_before_it_is_read(
    client: StudioClient,
) -> None:
    """Else the first two events of a studio could get one sequence."""
    waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = "
    free = "SELECT last_sequence FROM event_counters WHERE studio_id = $1 FOR UPDATE SKIP LOCKED"
    make = "INSERT INTO event_counters (studio_id) VALUES ($1) ON CONFLICT DO NOTHING"
    database = client.context.db
    async with database.transaction() as conn:
        async with database.transaction() as gate:
            await gate.execute("LOCK TABLE fan_outs")
            envelope = read_envelope(message_of(client.event()).body)
            logging = asyncio.create_task(begin_logging(conn, [envelope]))
            await eventually(lambda: client.sql(f"{waiting} 'relation'"))
            other = asyncio.create_task(client.sql(make, client.studio_id))
            while not (other.done() or await client.sql(f"{waiting} 'transactionid'")):
                await asyncio.sleep(0.01)
        await logging
        assert not await client.sql(free, client.studio_id)
    await other


@pytest.mark.parametrize("lock", [True, False], ids=["with the lock", "control: without it"])
async def test_an_event_is_never_visible_before_one_with_a_lower_sequence(
    client: StudioClient, lock: bool
) -> None:
    """Concurrent writers, some of which roll back. Without the counter's lock the race shows."""
    counter = [0]

    async def write_all() -> None:
        for start in range(0, 100, 10):
            await asyncio.gather(
                *(write(client, n, lock=lock, counter=counter) for n in range(start, start + 10))
            )

    views = await read_while(client, asyncio.create_task(write_all()))
    assert max(len(view) for view in views) > 20, "the reader saw too little to prove anything"
    assert all(view == list(range(1, len(view) + 1)) for view in views) is lock


async def test_catching_up_by_sequence_and_by_cursor_sees_every_event_once(client: StudioClient) -> None:
    """`after_sequence` and `cursor` walk the same list."""
    ids = await client.publish_some(25)
    listed = (await client.call("GET", "/events", limit=200)).json()["data"]
    assert {e["id"] for e in listed} == set(ids)
    assert all(a["sequence"] + 1 == b["sequence"] for a, b in pairwise(listed))
    for parameter in ("after_sequence", "cursor"):
        page = (await client.call("GET", "/events", limit=7)).json()
        walked = page["data"]
        while page["has_more"]:
            place = walked[-1]["sequence"] if parameter == "after_sequence" else page["next_cursor"]
            page = (await client.call("GET", "/events", limit=7, **{parameter: place})).json()
            walked += page["data"]
        assert walked == listed
    for wrong in (new_id(), "nonsense"):
        assert (await client.call("GET", "/events", cursor=wrong)).code == "invalid_cursor"
    assert (await client.call("GET", "/events", after_sequence=-1)).status == 422
    beyond = await client.call("GET", "/events", after_sequence=2**62)
    assert (beyond.status, beyond.json()["data"]) == (200, []), "the documented maximum is taken"
    assert (await client.call("GET", "/events", after_sequence=2**62 + 1)).status == 422


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
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


async def test_a_key_and_its_endpoints_see_what_its_scopes_and_locations_allow(
    client: StudioClient, receiver: Receiver
) -> None:
    """In lists, by id and as a cursor, which would tell that an event exists, and at endpoints.

    Studio-wide kinds pass a limit to locations.
    """
    here, there = new_id(), new_id()
    limited = client.caller(scopes=ALL_READS - {"leads:read"}, location_ids=(here,))
    await client.endpoint(receiver.url, caller=limited)
    foreign = client.event(MemberCreated, studio_id=new_id())
    lead = client.event(LeadCreated)
    hidden = [client.event(location_id=there), client.event(location_id=None)]
    seen = [client.event(location_id=here), client.event(MemberCreated), client.event(FormSubmitted)]
    for event in (foreign, *hidden, *seen, lead):
        await client.publish(event)
    hidden.append(lead)
    await receiver.until_count(3)
    assert set(receiver.ids) == {event.id for event in seen}
    page = (await client.call("GET", "/events", caller=limited)).json()
    assert [e["id"] for e in page["data"]] == [event.id for event in seen]
    assert [e["sequence"] for e in page["data"]] == [3, 4, 5], "a filtered view shows a part of the sequence"
    assert page["latest_sequence"] == 6, "a client that continues from it misses nothing"
    assert (await client.call("GET", "/events", limit=1)).json()["latest_sequence"] == 6
    for event in seen:
        assert (await client.call("GET", f"/events/{event.id}", caller=limited)).status == 200
        assert (await client.call("GET", "/events", caller=limited, cursor=event.id)).status == 200
    for event in (foreign, *hidden):
        assert (await client.call("GET", f"/events/{event.id}", caller=limited)).status == 404
        refused = await client.call("GET", "/events", caller=limited, cursor=event.id)
        assert (refused.status, refused.code) == (400, "invalid_cursor")
    for event in hidden:
        assert (await client.call("GET", "/events", cursor=event.id)).status == 200, "control: may see it"
    only = (await client.call("GET", "/events", type="lead.created")).json()["data"]
    assert [e["id"] for e in only] == [lead.id]
    assert (await client.call("GET", "/events", type="no.such")).status == 422
    stranger = client.caller(studio_id=new_id())
    assert (await client.call("GET", "/events", caller=stranger)).json()["data"] == []


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
    async with connected(database_url) as conn:
        await conn.execute("SET search_path = webhooks")
        await conn.execute(COPIES, EVENTS)
        await conn.execute("ANALYZE events")
        nowhere: list[str] = []
        caller = (client.studio_id, 0, list(KINDS), LIMIT, client.client_id, False)
        counter = BlockCounter(conn)
        found = await counter.fetch(BY_KIND, *caller, nowhere, nowhere, nowhere, EVENTS + 1)
    assert len(found) == LIMIT
    assert counter.blocks < MOST_BLOCKS


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
