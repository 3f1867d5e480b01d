"""The number of partitions can change while replicas run: one number is in use at a time."""

import pytest
import structlog
from structlog.testing import LogCapture

from shared.db.database import Database
from shared.events import leases as leases_module
from shared.events.leases import Leases
from shared.wire import new_id
from tests.shared.events.staged_bus import StagedBus, event, relay, until_idle, write
from tests.shared.events.test_leases import settled

pytestmark = pytest.mark.usefixtures("at_once")

MANY, FEW = 4, 2
NONE: frozenset[int] = frozenset()


def replicas(db: Database, *numbers: int) -> list[Leases]:
    return [Leases(db, "test", number) for number in numbers]


async def execute(db: Database, sql: str, *args: object) -> None:
    async with db.connection() as conn:
        await conn.execute(sql, *args)


@pytest.mark.parametrize(("old", "new"), [(MANY, FEW), (FEW, MANY)], ids=["fewer", "more"])
async def test_another_number_waits_until_the_last_replica_of_the_old_one_stops(
    db: Database, old: int, new: int
) -> None:
    """Both at once would send a studio's events through two queues, and lose the order of an aggregate."""
    one, two, three, four = replicas(db, old, old, new, new)
    await settled(one, two)
    shares = await settled(one, two, three, four)
    assert frozenset.union(*shares[:2]) == frozenset(range(old)) and shares[2:] == [NONE, NONE]
    await one.release()
    shares = await settled(two, three, four)
    assert shares == [frozenset(range(old)), NONE, NONE], "the old ones share among themselves"
    await two.release()
    shares = await settled(three, four)
    assert frozenset.union(*shares) == frozenset(range(new)) and all(shares)


async def test_a_replica_that_waits_says_why_once(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """With both numbers, so that a forgotten service is found."""
    capture = LogCapture()
    monkeypatch.setattr(leases_module, "log", structlog.wrap_logger(None, processors=[capture]))
    one, two = replicas(db, MANY, FEW)
    await one.renew()
    await settled(one, two)
    told = [entry for entry in capture.entries if entry["event"] == "partitions_differ"]
    assert [(entry["configured"], entry["in_use"]) for entry in told] == [(FEW, MANY)]


async def test_leases_of_a_dead_replica_with_another_number_expire(db: Database) -> None:
    """It released nothing, and nobody waits for it for longer than for others."""
    dead, one = replicas(db, MANY, FEW)
    await dead.renew()
    assert await one.renew() == NONE
    await execute(db, "UPDATE leases SET renewed_at = renewed_at - interval '1 hour'")
    assert await one.renew() == frozenset(range(FEW))


async def test_two_numbers_that_start_together_settle_on_one(db: Database) -> None:
    """Whoever has the lowest partition goes on, and the other one gives its leases up."""
    few, many = replicas(db, FEW, MANY)
    await many.renew()
    await few.renew()
    # As if both had taken what was free in the same moment.
    await execute(db, "UPDATE leases SET replica = $1 WHERE partition < $2", few.replica, FEW)
    assert await few.renew() == frozenset(range(FEW))
    assert await many.renew() == NONE
    assert await settled(few, many) == [frozenset(range(FEW)), NONE]


async def test_a_replica_of_the_previous_release_shares_with_new_ones(db: Database) -> None:
    """It does not say its number, and has the same one unless somebody changed it with the upgrade."""
    one, old = replicas(db, MANY, MANY)
    await settled(one, old)
    await execute(db, "UPDATE lease_replicas SET partitions = NULL WHERE replica = $1", old.replica)
    assert sorted(map(len, await settled(one, old))) == [FEW, FEW]


async def test_what_was_in_flight_is_published_again_in_order_by_the_new_number(db: Database) -> None:
    """The queue that has the first copy may never be read again."""
    studios = [new_id() for _ in range(20)]
    events = [event(studio, version, studio_id=studio) for version in (1, 2) for studio in studios]
    old_bus, new_bus = StagedBus(MANY), StagedBus(FEW)
    old, new = await relay(db, old_bus), await relay(db, new_bus)
    await write(db, events)
    await until_idle(old)
    assert len(old_bus.ids) == len(events)
    await until_idle(new)
    assert new_bus.ids == [], "the old number is in use"
    await old.stop()
    await until_idle(new)
    assert set(new_bus.ids) == {one.id for one in events}
    for studio in studios:
        own = [one.id for one in events if one.studio_id == studio]
        assert [id_ for id_ in new_bus.ids if id_ in own] == own
    await new.stop()
