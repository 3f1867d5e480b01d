"""A bus with failures that the test controls, and a relay that publishes to it."""

import asyncio
from collections.abc import Sequence

from shared.background import Wakeup
from shared.db.database import Database
from shared.events.backlog import Backlog, backlog
from shared.events.bus import EVENT_LOG, Acknowledgement, BusError, Message, Queue
from shared.events.bus.acknowledgements import Settle
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.events.outbox import add_events
from shared.events.relay import Relay
from shared.wire import new_id

STUDIO = new_id()


def event(resource_id: str, version: int, studio_id: str = STUDIO) -> Event:
    return BookingCreated(
        studio_id=studio_id,
        resource=EventResource("booking", resource_id, version),
        data={"version": version},
    )


class StagedBus:
    """Records what it confirmed, fails on request, and acknowledges the events that the test names."""

    def __init__(self, partitions: int = 4) -> None:
        self.partitions = partitions
        self.keeps_parked = True
        self.has_old_queue = False
        self.by_old_queue: list[str] = []
        self.connection = 1
        self.confirmed: list[Message] = []
        self.unconfirmed = 0
        self.most_unconfirmed = 0
        self.fail_next = 0
        self.refuse: set[str] = set()
        self.slow: dict[str, float] = {}
        self.hold: dict[str, asyncio.Event] = {}
        self.settle: Settle | None = None

    def lists_parked(self, queue: Queue) -> bool:
        return True

    async def ensure_connected(self) -> int:
        return self.connection

    async def on_acknowledged(self, source: str, settle: Settle) -> None:
        self.settle = settle

    async def publish(
        self, message: Message, queue: Queue = EVENT_LOG, *, by_old_queue: bool = False
    ) -> None:
        self.unconfirmed += 1
        self.most_unconfirmed = max(self.most_unconfirmed, self.unconfirmed)
        await asyncio.sleep(self.slow.get(message.id, 0))
        if message.id in self.hold:
            await self.hold[message.id].wait()
        self.unconfirmed -= 1
        if self.fail_next > 0 or message.id in self.refuse:
            self.fail_next -= 1
            raise BusError("staged")
        self.confirmed.append(message)
        if by_old_queue:
            self.by_old_queue.append(message.id)

    async def acknowledge(self, *messages: Message, parked: bool = False) -> None:
        assert self.settle is not None
        await self.settle([Acknowledgement(one.reference, one.id, parked) for one in messages])

    @property
    def ids(self) -> list[str]:
        return [message.id for message in self.confirmed]


async def relay(
    db: Database, bus: StagedBus, wakeup: Wakeup | None = None, *, acknowledge_seconds: float = 30.0
) -> Relay:
    made = Relay(
        db,
        bus,  # type: ignore[arg-type]
        wakeup or Wakeup(),
        service="bookings",
        acknowledge_seconds=acknowledge_seconds,
    )
    await made.start()
    return made


async def write(db: Database, events: Sequence[Event]) -> None:
    async with db.transaction() as conn:
        await add_events(conn, events)


async def states(db: Database) -> Backlog:
    async with db.connection() as conn:
        return await backlog(conn)


async def until_idle(one: Relay, *, held: int = 0) -> None:
    """Until nothing is left to publish except `held` rows, however slow this machine is."""
    while await one.step() or one.unconfirmed > held:
        await asyncio.sleep(0.001)


def versions(count: int) -> list[Event]:
    """Events of one aggregate."""
    booking = new_id()
    return [event(booking, version) for version in range(1, count + 1)]


def order(bus: StagedBus, events: list[Event]) -> list[int]:
    """The versions as they were confirmed."""
    by_id = {one.id: one.resource.version for one in events}
    return [by_id[sent] for sent in bus.ids if sent in by_id]
