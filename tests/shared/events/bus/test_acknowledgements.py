"""Acknowledgements reach their producer, also if its queue comes late."""

import asyncio
import time
from collections.abc import Sequence

import aio_pika
import pytest

from shared.events.bus import Acknowledgement
from shared.events.bus import acknowledgements as module
from shared.events.bus.acknowledgements import AcknowledgementSender
from shared.events.bus.rabbit import RabbitBus
from shared.events.bus.topology import acknowledgements_of
from tests.harness.eventually import until
from tests.shared.events.bus.queues import ALL, PARTITIONS, QUEUES, Notebook, message


async def test_they_wait_for_the_queue_of_a_producer_that_is_not_back_yet(amqp_url: str) -> None:
    """As after a broker that lost its data: an event is handled before its producer is connected again."""
    log = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    producer = await RabbitBus(amqp_url, QUEUES, partitions=PARTITIONS).connect()
    notebook, told = Notebook(), list[Acknowledgement]()
    await log.subscribe(ALL, notebook)
    await producer.publish(message(1, source="late"), ALL)
    await notebook.until(lambda seen: seen == ["m1"])
    await until(lambda: bool(log._acknowledgements._unsent))
    connections = log._connections

    async def settle(acknowledgements: Sequence[Acknowledgement]) -> None:
        told.extend(acknowledgements)

    await producer.on_acknowledged("late", settle)
    await until(lambda: [one.id for one in told] == ["m1"])
    assert log._connections == connections, "others were disturbed"
    await producer.close()
    await log.close()
    async with await aio_pika.connect(amqp_url) as connection:
        await (await connection.channel()).queue_delete(acknowledgements_of("late").name)


async def test_a_producer_that_is_gone_for_good_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its acknowledgements are kept for a while, few of them, and those of others are not held up."""
    monkeypatch.setattr(module, "TRY_AGAIN_SECONDS", 0.3)
    monkeypatch.setattr(module, "TRY_AGAIN_EVERY", 0.05)
    monkeypatch.setattr(module, "MOST_TRIED_AGAIN", 10)
    tries, arrived = [], []

    async def send(source: str, acknowledgements: Sequence[Acknowledgement]) -> None:
        if source == "gone":
            tries.append(len(acknowledgements))
            raise RuntimeError
        arrived.append(source)

    sender = AcknowledgementSender(send)
    for n in range(8):
        sender.add("gone", Acknowledgement(f"{n}.1", f"m{n}"))
    await until(lambda: len(tries) > 1)
    for n in range(8):
        sender.add("gone", Acknowledgement(f"{n}.1", f"m{n}"))
    sender.add("here", Acknowledgement("1.1", "m1"))
    started = time.monotonic()
    await until(lambda: arrived == ["here"])
    assert sum(len(one.acknowledgements) for one in sender._unsent) <= 10
    await until(
        lambda: not sender._unsent and sender._trying_again is not None and sender._trying_again.done()
    )
    assert time.monotonic() - started < 10
    tried = len(tries)
    await asyncio.sleep(0.2)
    assert len(tries) == tried
    await sender.close()
