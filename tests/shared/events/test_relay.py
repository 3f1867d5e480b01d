"""The outbox and its relay: nothing lost, nothing overtakes, one relay at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from shared.background import Loop, Wakeup, running
from shared.db.database import Database
from shared.events.bus import BusError, Message
from shared.events.kinds import BookingCreated, Event, EventResource
from shared.events.outbox import add_event, add_events, backlog
from shared.events.relay import Relay
from shared.wire import new_id

STUDIO = new_id()


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await Database.connect(database_url, "bookings", size=8)
    yield database
    await database.close()


def event(resource_id: str, version: int) -> Event:
    return BookingCreated(
        studio_id=STUDIO, resource=EventResource("booking", resource_id, version), data={"version": version}
    )


class StagedBus:
    """Only `publish` is used here: it writes down what was confirmed and fails when told to."""

    def __init__(self) -> None:
        self.confirmed: list[Message] = []
        self.under_way = 0
        self.most_under_way = 0
        self.fail_next = 0
        self.refuse: set[str] = set()

    async def publish(self, message: Message) -> None:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        if self.fail_next > 0 or message.id in self.refuse:
            self.fail_next -= 1
            raise BusError("staged")
        self.confirmed.append(message)

    @property
    def ids(self) -> list[str]:
        return [message.id for message in self.confirmed]


def relay(db: Database, bus: StagedBus, wakeup: Wakeup | None = None) -> Relay:
    return Relay(db, bus, wakeup or Wakeup())  # type: ignore[arg-type]


async def write(db: Database, events: Sequence[Event]) -> None:
    async with db.transaction() as conn:
        await add_events(conn, events)


async def test_a_rolled_back_event_never_happened(db: Database) -> None:
    """The row is written with the fact, and goes with it."""
    with pytest.raises(RuntimeError):
        async with db.transaction() as conn:
            await add_event(conn, event(new_id(), 1))
            raise RuntimeError("the booking failed")
    async with db.connection() as conn:
        assert (await backlog(conn)).waiting == 0


async def test_rows_leave_after_the_confirm_and_only_then(db: Database) -> None:
    """A publish that fails keeps its row; the next step sends it."""
    bus = StagedBus()
    one = relay(db, bus)
    await write(db, [event(new_id(), 1) for _ in range(5)])
    bus.fail_next = 2
    with pytest.raises(BusError):
        await one.step()
    async with db.connection() as conn:
        assert (await backlog(conn)).waiting == 2
    assert await one.step() is True
    assert await one.step() is False
    assert len(set(bus.ids)) == 5
    await one.stop()


@pytest.mark.parametrize("envelope", [b"{}", b"\xff\xfe", b"not an event"])
async def test_a_row_that_cannot_be_read_stops_nobody(db: Database, envelope: bytes) -> None:
    """It is published like the others, and parked by the consumer, who can tell what it is."""
    bus = StagedBus()
    one = relay(db, bus)
    odd, even = event(new_id(), 1), event(new_id(), 1)
    await write(db, [odd, even])
    async with db.connection() as conn:
        await conn.execute(
            "UPDATE outbox SET envelope = $1, traceparent = 'nonsense' WHERE event_id = $2", envelope, odd.id
        )
    assert await one.step() is True
    assert await one.step() is False
    assert set(bus.ids) == {odd.id, even.id}
    await one.stop()


async def test_many_confirms_are_outstanding_but_one_per_aggregate(db: Database) -> None:
    """Order per aggregate holds: what failed is never overtaken by what came after it."""
    bus = StagedBus()
    one = relay(db, bus)
    bookings = [new_id() for _ in range(10)]
    events = [event(booking, version) for version in range(1, 6) for booking in bookings]
    await write(db, events)
    stuck = events[10]
    bus.refuse = {stuck.id}
    with pytest.raises(BusError):
        await one.step()
    assert bus.most_under_way == 10
    same = [e.id for e in events if e.resource.id == stuck.resource.id]
    assert [i for i in bus.ids if i in same] == same[:1], "those behind it stayed behind"
    bus.refuse = set()
    while await one.step():
        pass
    for booking in bookings:
        wanted = [e.id for e in events if e.resource.id == booking]
        assert [i for i in bus.ids if i in wanted] == wanted
    await one.stop()


async def test_a_row_committed_late_with_a_small_id_is_not_lost(db: Database) -> None:
    """Ids are not commit-ordered: the control shows the late row, which a cursor would have passed."""
    bus = StagedBus()
    one = relay(db, bus)
    async with db.pool.acquire() as slow:
        transaction = slow.transaction()
        await transaction.start()
        late = event(new_id(), 1)
        await add_event(slow, late)
        early = event(new_id(), 1)
        await write(db, [early])
        while await one.step():
            pass
        assert bus.ids == [early.id], "control: the later id was published first"
        await transaction.commit()
    while await one.step():
        pass
    assert bus.ids == [early.id, late.id]
    await one.stop()


async def test_one_relay_is_active_however_many_replicas_run(db: Database, database_url: str) -> None:
    """The others stand by, and take over when it is gone."""
    other_db = await Database.connect(database_url, "bookings", size=3)
    bus = StagedBus()
    first, second = relay(db, bus), relay(other_db, bus)
    assert await first.step() is False
    assert first.active
    await second.step()
    assert not second.active
    await first.stop()
    await second.step()
    assert second.active
    await second.stop()
    await other_db.close()


async def test_a_standby_passes_its_bell_to_the_active_relay(db: Database, database_url: str) -> None:
    """A commit in any replica is published at once, not at the next poll."""
    other_db = await Database.connect(database_url, "bookings", size=3)
    bus = StagedBus()
    wakeups = Wakeup(), Wakeup()
    first, second = relay(db, bus, wakeups[0]), relay(other_db, bus, wakeups[1])
    await first.step()
    loops = [
        Loop("first", first.step, idle=3600, wakeup=wakeups[0]),
        Loop("second", second.step, idle=3600, wakeup=wakeups[1]),
    ]
    async with running(loops):
        await write(other_db, [event(new_id(), 1)])
        wakeups[1].notify()
        async with asyncio.timeout(10):
            while not bus.ids:
                await asyncio.sleep(0.01)
    await second.stop()
    await first.stop()
    await other_db.close()


async def test_the_relay_survives_losing_its_connection(db: Database) -> None:
    """A restart of the database costs a step, and no event."""
    bus = StagedBus()
    one = relay(db, bus)
    await one.step()
    await write(db, [event(new_id(), 1)])
    async with db.connection() as conn:
        await conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'studio-bookings' AND pid <> pg_backend_pid()"
        )
    loop = Loop("relay", one.step, idle=0.05)
    async with running([loop]), asyncio.timeout(20):
        while not bus.ids:
            await asyncio.sleep(0.01)
    await one.stop()


async def test_a_loop_survives_a_bad_step_and_shows_its_age() -> None:
    """It logs, backs off and goes on; one that only fails is shown as not ready."""
    steps = 0

    async def sometimes() -> bool:
        nonlocal steps
        steps += 1
        if steps < 3:
            raise ValueError("once more")
        return False

    loop = Loop("test", sometimes, idle=0.01)
    async with running([loop]), asyncio.timeout(10):
        while steps < 5:
            await asyncio.sleep(0.01)
    assert loop.failures == 0
    assert loop.problem() is None

    async def never() -> bool:
        raise ValueError("always")

    sick = Loop("sick", never, idle=0.01, stale_after=0.05)
    async with running([sick]), asyncio.timeout(10):
        while sick.problem() is None:
            await asyncio.sleep(0.01)
    assert "sick has done nothing well" in str(sick.problem())
