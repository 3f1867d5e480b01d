"""No bucket keeps the others waiting, neither with events that are not being logged nor with a backlog."""

from collections.abc import AsyncIterator

import pytest

from shared.background import Loop, running
from shared.db.database import Connection, Database
from shared.events import lanes as lanes_module
from shared.events.buckets import BUCKETS, bucket_of
from shared.events.lanes import Lanes
from shared.events.outbox_rows import WINDOW
from shared.wire import new_id
from tests.harness.eventually import until
from tests.shared.events.staged_bus import StagedBus, event, relay, write

# Rows of a bucket, each of its own aggregate. If in flight, then for an hour.
FILL = """
INSERT INTO outbox (event_id, type, aggregate, envelope, studio_id, bucket, sent_at, sends)
SELECT gen_random_uuid(), 'booking.created', 'booking:' || $3 || ':' || n, '{}',
       md5($1::smallint::text)::uuid, $1::smallint,
       CASE WHEN $4 THEN clock_timestamp() - interval '1 hour' END, CASE WHEN $4 THEN 1 ELSE 0 END
FROM generate_series(1, $2::int) AS n
"""
# What the event log does when it works again.
ACKNOWLEDGE = "DELETE FROM outbox WHERE sent_at IS NOT NULL AND bucket = ANY ($1::smallint[])"
SHARE = WINDOW // BUCKETS
HEALTHY = 63
# The neighbour has the same bucket.
HOT_STUDIO = "00000000-0000-4000-8000-000000000000"
NEIGHBOUR = "00000000-0000-4000-8000-000000000012"
OTHER_STUDIO = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
async def conn(db: Database) -> AsyncIterator[Connection]:
    async with db.connection() as connection:
        yield connection


@pytest.fixture(autouse=True)
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call looks, however long the last one took."""
    for name, value in (("LOOK_EVERY", 0.0), ("LOOK_EVERY_IDLE", 0.0), ("LOOK_SHARE", float("inf"))):
        monkeypatch.setattr(lanes_module, name, value)


def of_all_buckets() -> Lanes:
    made = Lanes("bookings")
    made.assign(range(BUCKETS))
    return made


async def fill(conn: Connection, buckets: range, rows: int, *, in_flight: bool = False) -> None:
    for bucket in buckets:
        await conn.execute(FILL, bucket, rows, new_id(), in_flight)


async def claimed(conn: Connection, lanes: Lanes, room: int = 256) -> list[int]:
    """The buckets of the rows that the next step claims."""
    await lanes.look(conn)
    rows, _ = await lanes.claim(conn, range(BUCKETS), [], room)
    return [row["bucket"] for row in rows]


async def test_partitions_that_are_not_being_logged_do_not_keep_the_others_waiting(conn: Connection) -> None:
    """Half of the buckets, each with twice its share of the oldest rows: none has a large part of them."""
    lanes = of_all_buckets()
    await fill(conn, range(32), 2 * SHARE, in_flight=True)
    await fill(conn, range(32), 10)
    await fill(conn, range(HEALTHY, HEALTHY + 1), 3)
    assert await claimed(conn, lanes) == [HEALTHY] * 3
    assert lanes.stuck == set(range(32)), "what is in flight of them is bounded"


async def test_a_bucket_that_is_logged_again_is_claimed_again_while_others_are_busy(conn: Connection) -> None:
    """Also if each claim finds something else to do, and if other buckets are still stuck."""
    lanes = of_all_buckets()
    await fill(conn, range(4), WINDOW // 2, in_flight=True)
    await fill(conn, range(4), 10)
    await fill(conn, range(HEALTHY, HEALTHY + 1), 1)
    assert await claimed(conn, lanes) == [HEALTHY]
    assert lanes.stuck == {0, 1, 2, 3}
    await conn.execute(ACKNOWLEDGE, [3])
    await fill(conn, range(HEALTHY, HEALTHY + 1), 1)
    assert sorted(await claimed(conn, lanes)) == [3] * 10 + [HEALTHY]
    assert lanes.stuck == {0, 1, 2}


async def test_a_bucket_that_is_stuck_later_is_found_behind_those_that_were_stuck_before(
    conn: Connection,
) -> None:
    """The older ones alone have more rows than a look reads."""
    lanes = of_all_buckets()
    await fill(conn, range(4), WINDOW // 2, in_flight=True)
    await claimed(conn, lanes)
    assert lanes.stuck == {0, 1, 2, 3}
    await fill(conn, range(4, 6), WINDOW, in_flight=True)
    await fill(conn, range(HEALTHY, HEALTHY + 1), 1)
    assert await claimed(conn, lanes) == [HEALTHY]
    assert lanes.stuck == {0, 1, 2, 3, 4, 5}


async def test_few_rows_in_flight_are_no_reason_to_set_a_bucket_aside(conn: Connection) -> None:
    """As long as one claim can read everything, nothing is hidden. Rows may be late for other reasons."""
    lanes = of_all_buckets()
    await fill(conn, range(1), WINDOW // 2, in_flight=True)
    await fill(conn, range(2), 5)
    assert sorted(await claimed(conn, lanes)) == [0] * 5 + [1] * 5
    assert lanes.stuck == set()


async def test_a_backlog_of_one_bucket_does_not_hide_the_others(conn: Connection) -> None:
    """Two buckets have more rows than a claim reads. A later row of a third one is in the next claim."""
    lanes = of_all_buckets()
    await fill(conn, range(2), WINDOW + 100)
    await fill(conn, range(HEALTHY, HEALTHY + 1), 1)
    buckets = await claimed(conn, lanes)
    assert len(buckets) == 256
    assert {*buckets} == {0, 1, HEALTHY}, "those with a backlog have a share each"
    await fill(conn, range(HEALTHY, HEALTHY + 1), 1)
    assert HEALTHY in await claimed(conn, lanes)


async def test_rows_leave_in_order_while_their_bucket_changes_lanes(conn: Connection) -> None:
    """All of them, each once: to the next lane with the backlog, and back when it is gone."""
    lanes = of_all_buckets()
    await fill(conn, range(2), WINDOW)
    taken: dict[int, list[int]] = {}
    for _ in range(200):
        await lanes.look(conn)
        rows, _ = await lanes.claim(conn, range(BUCKETS), [], 512)
        for row in rows:
            taken.setdefault(row["bucket"], []).append(row["id"])
        await conn.execute("DELETE FROM outbox WHERE id = ANY ($1::bigint[])", [row["id"] for row in rows])
        if not rows:
            break
    assert {bucket: len(ids) for bucket, ids in taken.items()} == {0: WINDOW, 1: WINDOW}
    assert all(ids == sorted(ids) for ids in taken.values())
    await fill(conn, range(2, 4), 1)
    assert await claimed(conn, lanes) == [2, 3]


async def test_a_relay_publishes_for_healthy_partitions_while_half_of_them_are_not_being_logged(
    db: Database,
) -> None:
    """Whose rows in flight are as many as a claim reads, and none of which has a large part of them."""
    bus = StagedBus(partitions=16)
    one = await relay(db, bus)
    await one.step()
    healthy = bucket_of(OTHER_STUDIO) % 2
    async with db.connection() as conn:
        for bucket in range(BUCKETS):
            if bucket % 2 != healthy:
                await conn.execute(FILL, bucket, 2 * SHARE, new_id(), True)
    other = event(new_id(), 1, OTHER_STUDIO)
    await write(db, [other])
    async with running([Loop("relay", one.step, idle=0.05)]):
        await until(lambda: other.id in bus.ids, seconds=20)
    await one.stop()


async def test_one_studios_import_does_not_keep_the_other_studios_waiting(db: Database) -> None:
    """5,000 events of one studio were committed before the one of another. The next batch has that one."""
    bus = StagedBus()
    one = await relay(db, bus)
    await write(db, [event(new_id(), 1, HOT_STUDIO) for _ in range(5000)])
    other = event(new_id(), 1, OTHER_STUDIO)
    await write(db, [other])
    await one.step()
    await until(lambda: one.unconfirmed == 0)
    assert other.id in bus.ids
    assert len(bus.ids) <= 256
    await one.stop()


@pytest.mark.parametrize("events", [1000, 5000], ids=["few", "more than a claim reads"])
async def test_an_import_does_not_keep_studios_of_the_same_bucket_waiting(db: Database, events: int) -> None:
    """They share its place in a lane. Within it, studios take turns."""
    bus = StagedBus()
    one = await relay(db, bus)
    imported = [event(new_id(), 1, HOT_STUDIO) for _ in range(events)]
    await write(db, imported)
    others = [event(new_id(), 1, NEIGHBOUR) for _ in range(2)]
    await write(db, others)
    await one.step()
    await until(lambda: one.unconfirmed == 0)
    assert {other.id for other in others} <= {*bus.ids}
    assert len(bus.ids) == 256, "the rest of the batch is the import's"
    await one.stop()


async def test_many_equal_backlogs_do_not_hide_the_rest(conn: Connection) -> None:
    """None of them has much more than an equal share of the oldest rows, but together they have all."""
    lanes = of_all_buckets()
    backlogs = 3 * BUCKETS // 4
    for _ in range(16):
        await fill(conn, range(backlogs), SHARE // 8)
    await fill(conn, range(HEALTHY, HEALTHY + 1), 3)
    assert (await claimed(conn, lanes)).count(HEALTHY) == 3


async def test_what_recovered_beside_a_long_backlog_does_not_wait_for_its_end(conn: Connection) -> None:
    """Both were stuck and are logged again at once. The one with few rows leaves the other's lane."""
    lanes = of_all_buckets()
    await fill(conn, range(2), WINDOW // 2 + 1, in_flight=True)
    assert await claimed(conn, lanes) == []
    assert lanes.stuck == {0, 1}
    await conn.execute(ACKNOWLEDGE, [0, 1])
    await fill(conn, range(1), 2 * WINDOW)
    await fill(conn, range(1, 2), 3)
    await lanes.look(conn)
    assert (await claimed(conn, lanes)).count(1) == 3
