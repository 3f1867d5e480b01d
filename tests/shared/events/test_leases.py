"""Leases: one replica per partition, equal shares, and a dead replica's partitions move in seconds."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from shared.background import Loop, Wakeup, running
from shared.db.database import Database
from shared.events import leases as leases_module
from shared.events.leases import LEASE_SECONDS, Leases
from shared.wire import new_id
from tests.harness.database_layout import open_database, opened_database
from tests.harness.eventually import until
from tests.shared.events.staged_bus import StagedBus, event, relay, write

pytestmark = pytest.mark.usefixtures("at_once")

PARTITIONS = 4


def replica(db: Database) -> Leases:
    return Leases(db, "test", PARTITIONS)


async def settled(*replicas: Leases) -> list[frozenset[int]]:
    """Each replica releases its surplus partitions, then each takes free ones."""
    for _ in range(2):
        for one in replicas:
            await one.renew()
    return [await one.renew() for one in replicas]


async def test_partitions_are_spread_over_the_replicas_in_equal_shares(db: Database) -> None:
    """One replica has all, two have half each, four have one each. A stop releases its share at once."""
    one, two, three, four = (replica(db) for _ in range(4))
    assert await settled(one) == [frozenset(range(PARTITIONS))]
    assert one.all_held
    shares = await settled(one, two)
    assert sorted(map(len, shares)) == [2, 2]
    shares = await settled(one, two, three, four)
    assert sorted(map(len, shares)) == [1, 1, 1, 1]
    assert frozenset.union(*shares) == frozenset(range(PARTITIONS))
    for stopped in (two, three, four):
        await stopped.release()
    assert await settled(one) == [frozenset(range(PARTITIONS))]


async def test_a_silent_replica_loses_its_partitions_and_no_earlier(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that vanished releases nothing: its leases expire."""
    seconds = 1.5
    monkeypatch.setattr(leases_module, "LEASE_SECONDS", seconds)
    monkeypatch.setattr(leases_module, "LEASE", timedelta(seconds=seconds))
    one, silent = replica(db), replica(db)
    shares = await settled(one, silent)
    assert len(shares[0]) == 2
    started = time.monotonic()
    async with asyncio.timeout(10):
        while len(await one.renew()) < PARTITIONS:
            await asyncio.sleep(0.05)
    assert seconds * 0.9 < time.monotonic() - started < seconds * 3
    assert silent.held == frozenset(), "it knows by its own clock that they have run out"


@asynccontextmanager
async def leases_locked(database_url: str) -> AsyncIterator[None]:
    """Every statement on them hangs."""
    async with opened_database(database_url, "bookings") as other_db, other_db.transaction() as conn:
        await conn.execute("LOCK TABLE leases IN ACCESS EXCLUSIVE MODE")
        yield


@pytest.mark.parametrize("act", ["renew", "release"])
async def test_a_renewal_or_release_that_hangs_ends_before_the_leases_expire(
    db: Database, database_url: str, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Otherwise a replica would keep its partitions for as long as its link to the database is silent."""
    one = replica(db)
    await one.renew()
    async with leases_locked(database_url):
        monkeypatch.setattr(leases_module, "LEASE_SECONDS", 1.0)
        hanging = asyncio.create_task(getattr(one, act)())
        await asyncio.sleep(0)
        assert act == "renew" or one.held == frozenset(), "a release gives them up at once"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(15) as limit:
                await hanging
        assert not limit.expired(), "it ended by itself"
        await until(lambda: one.held == frozenset())
    monkeypatch.setattr(leases_module, "LEASE_SECONDS", LEASE_SECONDS)
    assert await one.renew() == frozenset(range(PARTITIONS)), "and it recovers"


@pytest.mark.parametrize("hours", [1, -1], ids=["set back", "set forward"])
async def test_a_dead_replicas_lease_does_not_survive_a_changed_clock(db: Database, hours: int) -> None:
    """After the clock is set back an hour, older leases lie in the future: they do not count either."""
    dead, one = replica(db), replica(db)
    await settled(dead)
    async with db.connection() as conn:
        # What the rows look like to a database whose clock was changed after they were written.
        await conn.execute("UPDATE leases SET renewed_at = renewed_at + $1 * interval '1 hour'", hours)
        await conn.execute("UPDATE lease_replicas SET seen_at = seen_at + $1 * interval '1 hour'", hours)
    assert await one.renew() == frozenset(range(PARTITIONS))


async def test_a_partition_is_relayed_by_the_replica_that_leases_it(db: Database, database_url: str) -> None:
    """A commit in any replica is published at once by whoever has the partition, and by nobody else."""
    other_db = await open_database(database_url, "bookings", size=3)
    buses, wakeups = (StagedBus(prompt=True), StagedBus(prompt=True)), (Wakeup(), Wakeup())
    first, second = relay(db, buses[0], wakeups[0]), relay(other_db, buses[1], wakeups[1])
    for _ in range(3):
        await first.step()
        await second.step()
    loops = [
        Loop("first", first.step, idle=3600, wakeup=wakeups[0]),
        Loop("second", second.step, idle=3600, wakeup=wakeups[1]),
    ]
    events = [event(new_id(), 1, studio_id=new_id()) for _ in range(40)]
    async with running(loops):
        await write(other_db, events)
        wakeups[1].notify()
        await until(lambda: len(buses[0].ids) + len(buses[1].ids) >= 40, seconds=10)
    for bus, one in zip(buses, (first, second), strict=True):
        assert {batch.partition for batch in bus.batches} <= one.leases.held
    assert len(buses[0].ids) + len(buses[1].ids) == 40
    await second.stop()
    await first.stop()
