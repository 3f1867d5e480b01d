"""The contract of both buses: the same tests run in process and on a real RabbitMQ."""

import asyncio
from collections.abc import Sequence

from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Bus, BusError, Message, Poison
from shared.events.bus.memory import MemoryBus
from tests.harness.eventually import eventually, until
from tests.shared.events.bus.notebook import Notebook, Sender, at_once


async def _consume(bus: Bus, handler: object, **options: object) -> None:
    await bus.subscribe(EVENT_LOG, handler, ready=at_once, **options)  # type: ignore[arg-type]
    bus.assign(EVENT_LOG, EVENT_LOG.all_partitions)

    async def is_declared() -> bool:
        try:
            return await bus.depth(EVENT_LOG) >= 0
        except BusError:
            return False

    # A batch that comes between a queue and its binding is returned, and nobody here sends it again.
    await eventually(is_declared)


async def test_batches_arrive_in_order_and_are_replied_to(bus: Bus) -> None:
    """Only after the handler returned, and to their own sender."""
    hold, notebook = asyncio.Event(), Notebook()

    async def slow(messages: Sequence[Message]) -> None:
        await hold.wait()
        notebook.note(messages)

    await _consume(bus, slow)
    one, two = Sender(bus), Sender(bus, partition=5)
    for n in range(100):
        await one.send(f"m{n}")
    await two.send("other")
    await asyncio.sleep(0.2)
    assert not one.replies, "the control: nothing is handled yet"
    hold.set()
    await until(lambda: len(one.stored) == 100 and bool(two.stored))
    assert one.stored == [f"m{n}" for n in range(100)] == [id_ for id_ in notebook.seen if id_ != "other"]
    assert two.stored == ["other"]


async def test_each_queue_gets_its_own_messages_only(bus: Bus) -> None:
    """What is sent to a group reaches that group and no other. The sender is told what it refuses."""
    everything, members = Notebook(), Notebook()

    async def join(messages: Sequence[Message]) -> None:
        if any(message.id == "bad" for message in messages):
            raise Poison("staged")
        members.note(messages)

    await _consume(bus, everything)
    await bus.subscribe(NEW_MEMBERS, join, ready=at_once)
    forwarding = Sender(bus, NEW_MEMBERS, service="webhooks")
    await forwarding.send("m1")
    await forwarding.send("bad")
    await Sender(bus).send("m2")
    await until(lambda: bool(everything.seen) and any(reply.refused for reply in forwarding.replies))
    assert (members.seen, everything.seen, forwarding.stored) == (["m1"], ["m2"], ["m1"])
    assert [one.event_id for reply in forwarding.replies for one in reply.refused] == ["bad"]


async def test_poison_and_bugs_are_parked_and_those_behind_them_go_on(bus: Bus) -> None:
    """A message that can never be handled is parked once, with its reason, and counts as stored."""
    notebook = Notebook()

    async def picky(messages: Sequence[Message]) -> None:
        for message in messages:
            if message.id == "m2":
                raise Poison("m2 makes no sense")
            if message.id == "m3":
                raise KeyError("a bug")
        notebook.note(messages)

    await _consume(bus, picky, park=notebook.park)
    sender = Sender(bus)
    await sender.send("m1", "m2", "m3", "m4")
    await until(lambda: len(sender.stored) == 4)
    assert notebook.seen == ["m1", "m4"]
    assert notebook.parked == [("m2", "m2 makes no sense"), ("m3", "KeyError: 'a bug'")]


async def test_nothing_is_parked_or_lost_while_the_database_is_unavailable(bus: Bus) -> None:
    """The consumer comes back when the database takes writes. An unknown session starts over then."""
    notebook = Notebook()
    away = 3

    async def storing(messages: Sequence[Message]) -> None:
        nonlocal away
        if away:
            away -= 1
            raise ConnectionRefusedError("the database is down")
        notebook.note(messages)

    await _consume(bus, storing, park=notebook.park)
    sender = Sender(bus)
    await sender.send("m1")
    await until(lambda: sender.stored == notebook.seen == ["m1"])
    assert notebook.parked == []


async def test_in_process_what_is_sent_waits_for_its_consumer() -> None:
    """Services are opened one after another. Without a reply the outbox keeps its rows."""
    bus, notebook = MemoryBus(), Notebook()
    sender = Sender(bus)
    await sender.send("m1")
    await asyncio.sleep(0)
    assert (sender.replies, await bus.depth(EVENT_LOG)) == ([], 1)
    await _consume(bus, notebook)
    await until(lambda: sender.stored == ["m1"])
    assert (notebook.seen, await bus.depth(EVENT_LOG)) == (["m1"], 0)
    await bus.close()
