"""A bus under the test's control, and a relay that sends to it."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from shared.background import Wakeup
from shared.db.database import Database
from shared.events.bus import Batch, BusError, Link, Message, OnReply, Queue, Reply, Stored
from shared.events.envelope import read_envelope
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.events.outbox import Backlog, add_events, backlog
from shared.events.relay import Relay
from shared.wire import new_id

STUDIO = new_id()


def event(resource_id: str, version: int, studio_id: str = STUDIO) -> Event:
    return Event(
        kind=BookingCreated,
        studio_id=studio_id,
        resource=EventResource("booking", resource_id, version),
        data={"version": version},
    )


class StagedBus:
    """Records what is sent. Replies when the test says so, or at once if it is `prompt`."""

    def __init__(self, *, prompt: bool = False) -> None:
        self.prompt = prompt
        self.batches: list[Batch] = []
        self.links: list[StagedLink] = []
        self.is_away = False

    async def link(self, queue: Queue, service: str, on_reply: OnReply) -> Link:
        if self.is_away:
            raise BusError("staged")
        self.links.append(StagedLink(self, on_reply))
        return self.links[-1]

    @property
    def messages(self) -> list[Message]:
        return [message for batch in self.batches for message in batch.messages]

    @property
    def ids(self) -> list[str]:
        return [message.id for message in self.messages]

    def reply(self, *batches: Batch) -> None:
        for batch in batches:
            self.say(Reply(batch.partition, batch.session, [Stored(m.row_id, m.id) for m in batch.messages]))

    def say(self, reply: Reply) -> None:
        self.links[-1].on_reply(reply)


class StagedLink:
    def __init__(self, bus: StagedBus, on_reply: OnReply) -> None:
        self._bus = bus
        self.on_reply = on_reply
        self.is_lost = False

    async def send(self, batch: Batch, *, again: bool = False) -> None:
        if self.is_lost:
            raise BusError("staged")
        self._bus.batches.append(batch)
        if self._bus.prompt:
            self._bus.reply(batch)

    async def close(self) -> None:
        self.is_lost = True


class Log:
    """The versions of each resource, in order. Stores each event once, unless that rule is taken out."""

    def __init__(self, *, once: bool = True) -> None:
        self.versions: dict[str, list[int]] = defaultdict(list)
        self._once = once
        self._known: set[str] = set()

    async def __call__(self, messages: Sequence[Message]) -> None:
        # Other tasks run while it stores.
        await asyncio.sleep(0)
        for message in messages:
            if self._once and message.id in self._known:
                continue
            self._known.add(message.id)
            resource = read_envelope(message.body).resource
            self.versions[resource.id].append(resource.version)


def relay(
    db: Database, bus: StagedBus, wakeup: Wakeup | None = None, *, reply_seconds: float = 30.0
) -> Relay:
    return Relay(
        db,
        bus,  # type: ignore[arg-type]
        wakeup or Wakeup(),
        service="bookings",
        reply_seconds=reply_seconds,
    )


async def write(db: Database, events: Sequence[Event]) -> None:
    async with db.transaction() as conn:
        await add_events(conn, events)


async def left(db: Database) -> Backlog:
    async with db.connection() as conn:
        return await backlog(conn)


async def until_empty(db: Database) -> None:
    """Until a running relay has sent everything, and has its replies."""
    async with asyncio.timeout(60):
        while (await left(db)).waiting:
            await asyncio.sleep(0.02)


async def until_idle(one: Relay) -> None:
    """Until nothing is left that may be sent now."""
    while await one.step():
        await asyncio.sleep(0)


def versions(count: int) -> list[Event]:
    """Events of one resource."""
    booking = new_id()
    return [event(booking, version) for version in range(1, count + 1)]
