"""The contract of both buses: the same tests run in process and on a real RabbitMQ."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from shared.events.bus import Acknowledgement, Bus, Message, Poison, Unroutable
from shared.events.bus.memory import MemoryBus
from tests.harness.eventually import eventually, until
from tests.shared.events.bus.queues import ALL, MEMBERS, Notebook, message


async def test_messages_arrive_in_the_order_they_were_published(bus: Bus) -> None:
    """Order per publisher and queue is kept, in batches and one by one."""
    notebook = Notebook()
    await bus.subscribe(ALL, notebook, batch=10)
    await asyncio.gather(*(bus.publish(message(n), ALL) for n in range(100)))
    await notebook.until(lambda seen: len(seen) == 100)
    assert notebook.seen == [f"m{n}" for n in range(100)]
    assert max(notebook.batches) <= 10


async def test_each_group_gets_its_own_messages_only(bus: Bus) -> None:
    """One queue behind one routing key: what is published to a group reaches that group and no other."""
    everything, members = Notebook(), Notebook()
    await bus.subscribe(ALL, everything)
    await bus.subscribe(MEMBERS, members)
    await bus.publish(message(1), MEMBERS)
    await bus.publish(message(2), ALL)
    await everything.until(lambda seen: len(seen) == 1)
    await members.until(lambda seen: len(seen) == 1)
    assert (members.seen, everything.seen) == (["m1"], ["m2"])


async def test_a_handled_message_is_acknowledged_to_its_producer(bus: Bus) -> None:
    """With its own reference, only after the handler returned; other producers are not notified."""
    told: dict[str, list[Acknowledgement]] = {"one": [], "two": []}
    hold, handled = asyncio.Event(), Notebook()

    async def slow(messages: Sequence[Message]) -> None:
        await hold.wait()
        handled.note(messages)

    for name in told:
        await bus.on_acknowledged(name, partial(_note, told[name]))
    await bus.subscribe(ALL, slow, batch=5)
    publishing = asyncio.gather(*(bus.publish(message(n, source="one"), ALL) for n in range(3)))
    nobody = asyncio.create_task(bus.publish(message(3), ALL))
    await asyncio.sleep(0.1)
    assert not told["one"], "control: nothing is handled yet"
    hold.set()
    await publishing
    await nobody
    await until(lambda: len(told["one"]) == 3)
    assert {(one.reference, one.id, one.parked) for one in told["one"]} == {
        (f"r{n}", f"m{n}", False) for n in range(3)
    }
    assert told["two"] == []


async def _note(told: list[Acknowledgement], done: Sequence[Acknowledgement]) -> None:
    told.extend(done)


async def test_the_producer_learns_of_a_parked_message_and_again_once_it_is_handled(bus: Bus) -> None:
    """Its row stays until an operator has requeued the message."""
    told: list[Acknowledgement] = []
    refuse = True

    async def picky(messages: Sequence[Message]) -> None:
        if refuse:
            raise Poison("not now")

    await bus.on_acknowledged("one", partial(_note, told))
    await bus.subscribe(ALL, picky)
    await bus.publish(message(1, source="one"), ALL)
    await until(lambda: len(told) == 1)
    refuse = False
    await eventually(lambda: bus.requeue(ALL))
    await until(lambda: len(told) == 2)
    assert told == [Acknowledgement("r1", "m1", True), Acknowledgement("r1", "m1", False)]


async def test_poison_is_parked_at_once_with_its_reason_and_can_be_requeued(bus: Bus) -> None:
    """A message that can never be handled leaves the queue, is listed for operators, and can be requeued."""
    handled = Notebook()
    refuse = True

    async def picky(messages: Sequence[Message]) -> None:
        if refuse and any(m.id == "m2" for m in messages):
            raise Poison("m2 makes no sense")
        handled.note(messages)

    await bus.subscribe(ALL, picky, batch=5)
    await asyncio.gather(*(bus.publish(message(n), ALL) for n in range(5)))
    await handled.until(lambda seen: set(seen) == {"m0", "m1", "m3", "m4"})
    assert handled.seen == ["m0", "m1", "m3", "m4"]
    parked = await eventually(lambda: bus.parked(ALL, 10))
    assert [(p.id, p.topic, p.reason) for p in parked] == [("m2", "booking.created", "m2 makes no sense")]
    assert (await bus.depth(ALL)).parked == 1, "looking at a parked message leaves it parked"
    refuse = False
    assert await bus.requeue(ALL, frozenset({"other"})) == 0
    assert await bus.requeue(ALL, frozenset({"m2"})) == 1
    await handled.until(lambda seen: "m2" in seen)
    assert (await bus.depth(ALL)).parked == 0


async def test_a_handler_with_a_bug_is_tried_again_and_then_its_message_parked(bus: Bus) -> None:
    """An unexpected error parks the message after a few retries, and those behind it continue."""
    handled = Notebook()
    tries = 0

    async def buggy(messages: Sequence[Message]) -> None:
        nonlocal tries
        if messages[0].id == "m0":
            tries += 1
            raise KeyError("a bug")
        handled.note(messages)

    await bus.subscribe(ALL, buggy)
    await asyncio.gather(bus.publish(message(0), ALL), bus.publish(message(1), ALL))
    await handled.until(lambda seen: seen == ["m1"])
    assert tries == 4
    assert [p.reason for p in await bus.parked(ALL, 10)] == ["KeyError: 'a bug'"]


async def test_a_batch_is_held_while_the_database_is_unavailable(bus: Bus) -> None:
    """Not requeued and not parked: the handler gets the same messages again until it can store them."""
    handled = Notebook()
    away = 5

    async def storing(messages: Sequence[Message]) -> None:
        nonlocal away
        if away:
            away -= 1
            raise ConnectionRefusedError("the database is down")
        handled.note(messages)

    await bus.subscribe(ALL, storing)
    await asyncio.gather(*(bus.publish(message(n), ALL) for n in range(3)))
    await handled.until(lambda seen: len(seen) == 3)
    assert handled.seen == ["m0", "m1", "m2"]
    assert (await bus.depth(ALL)).parked == 0


async def test_publishing_in_process_before_there_is_a_consumer_is_refused() -> None:
    """In one process there is no broker to keep the message: the outbox row has to stay."""
    bus = MemoryBus((ALL,))
    with pytest.raises(Unroutable):
        await bus.publish(message(1), ALL)
