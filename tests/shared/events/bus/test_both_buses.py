"""What both buses promise, over both: the same tests run in process and on a real RabbitMQ."""

import asyncio
from collections.abc import Sequence

import pytest

from shared.events.bus import Bus, Message, Poison, Unroutable
from shared.events.bus.memory import MemoryBus
from shared.events.bus.topology import matches
from tests.shared.events.bus.queues import ALL, MEMBERS, Notebook, eventually, message


async def test_messages_arrive_in_the_order_they_were_published(bus: Bus) -> None:
    """Order per publisher and queue holds, in batches and one by one."""
    notebook = Notebook()
    await bus.subscribe(ALL, notebook, batch=10)
    await bus.subscribe(MEMBERS, Notebook())
    await asyncio.gather(*(bus.publish(message(n)) for n in range(100)))
    await notebook.until(lambda seen: len(seen) == 100)
    assert notebook.seen == [f"m{n}" for n in range(100)]
    assert max(notebook.batches) <= 10


async def test_each_queue_gets_its_topics_only(bus: Bus) -> None:
    """A queue bound to member.* sees members and nothing else; the catch-all sees everything."""
    everything, members = Notebook(), Notebook()
    await bus.subscribe(ALL, everything)
    await bus.subscribe(MEMBERS, members)
    await bus.publish(message(1, "member.created"))
    await bus.publish(message(2, "booking.created"))
    await everything.until(lambda seen: len(seen) == 2)
    await members.until(lambda seen: len(seen) == 1)
    assert members.seen == ["m1"]


async def test_poison_is_parked_at_once_with_its_reason_and_can_be_requeued(bus: Bus) -> None:
    """What can never be handled leaves the line, is listed for operators, and goes back on request."""
    handled = Notebook()
    refuse = True

    async def picky(messages: Sequence[Message]) -> None:
        if refuse and any(m.id == "m2" for m in messages):
            raise Poison("m2 makes no sense")
        handled.note(messages)

    await bus.subscribe(ALL, picky, batch=5)
    await bus.subscribe(MEMBERS, Notebook())
    await asyncio.gather(*(bus.publish(message(n)) for n in range(5)))
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
    """An unexpected error parks the message after a few tries, and the ones behind it go on."""
    handled = Notebook()
    tries = 0

    async def buggy(messages: Sequence[Message]) -> None:
        nonlocal tries
        if messages[0].id == "m0":
            tries += 1
            raise KeyError("a bug")
        handled.note(messages)

    await bus.subscribe(ALL, buggy)
    await bus.subscribe(MEMBERS, Notebook())
    await asyncio.gather(bus.publish(message(0)), bus.publish(message(1)))
    await handled.until(lambda seen: seen == ["m1"])
    assert tries == 4
    assert [p.reason for p in await bus.parked(ALL, 10)] == ["KeyError: 'a bug'"]


async def test_a_batch_is_held_while_the_database_is_away(bus: Bus) -> None:
    """Not given back, not parked: the handler gets the same messages again until it can store them."""
    handled = Notebook()
    away = 5

    async def storing(messages: Sequence[Message]) -> None:
        nonlocal away
        if away:
            away -= 1
            raise ConnectionRefusedError("the database is down")
        handled.note(messages)

    await bus.subscribe(ALL, storing)
    await bus.subscribe(MEMBERS, Notebook())
    await asyncio.gather(*(bus.publish(message(n)) for n in range(3)))
    await handled.until(lambda seen: len(seen) == 3)
    assert handled.seen == ["m0", "m1", "m2"]
    assert (await bus.depth(ALL)).parked == 0


async def test_publishing_in_process_before_there_is_a_consumer_is_refused() -> None:
    """In one process there is no broker to keep the message: the outbox row has to stay."""
    bus = MemoryBus((ALL,))
    with pytest.raises(Unroutable):
        await bus.publish(message(1))


@pytest.mark.parametrize(
    ("pattern", "topic", "fits"),
    [
        ("#", "booking.created", True),
        ("member.*", "member.created", True),
        ("member.*", "member.created.again", False),
        ("*.created", "lead.created", True),
        ("booking.#", "booking", True),
        ("booking.created", "booking.cancelled", False),
    ],
)
def test_topics_match_as_on_a_topic_exchange(pattern: str, topic: str, fits: bool) -> None:
    """The in-process bus routes as RabbitMQ does."""
    assert matches(pattern, topic) is fits
