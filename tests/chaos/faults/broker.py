"""RabbitMQ killed, blocked by an alarm, without its queues, exchanges, data or permissions."""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aio_pika

from shared.events.bus.topology import QUEUES
from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injection


@asynccontextmanager
async def kill(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    await asyncio.to_thread(arena.rabbit.kill)
    yield "SIGKILL"
    await asyncio.to_thread(arena.rabbit.start_again)


@asynccontextmanager
async def wipe(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    await asyncio.to_thread(arena.rabbit.kill)
    await asyncio.to_thread(shutil.rmtree, arena.rabbit.home / "data")
    yield "data wiped"
    await asyncio.to_thread(arena.rabbit.start_again)


def controlled(on: tuple[str, ...], off: tuple[str, ...], *, then: tuple[str, ...] = ()) -> Injection:
    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        await asyncio.to_thread(arena.rabbit.control, *on)
        if then:
            await asyncio.to_thread(arena.rabbit.control, *then)
        try:
            yield " ".join(on)
        finally:
            await asyncio.to_thread(arena.rabbit.control, *off)

    return inject


@asynccontextmanager
async def delete_queues(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """Some, or all of them."""
    names = [queue.partition(number) for queue in QUEUES for number in queue.all_partitions]
    chosen = names if draw.random() < 0.3 else draw.sample(names, 2)
    async with await aio_pika.connect(arena.rabbit.url) as connection:
        channel = await connection.channel()
        for name in chosen:
            await channel.queue_delete(name)
    yield "all" if chosen == names else ", ".join(chosen)


@asynccontextmanager
async def delete_exchanges(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    names = [name for queue in QUEUES for name in (queue.exchange, queue.replies)]
    chosen = names if draw.random() < 0.3 else [draw.choice(names)]
    async with await aio_pika.connect(arena.rabbit.url) as connection:
        channel = await connection.channel()
        for name in chosen:
            await channel.exchange_delete(name)
    yield ", ".join(chosen)


BROKER = Group(
    "broker",
    (
        Fault("kill -9", kill, (0.2, 2.0)),
        Fault("data wiped", wipe, (0.2, 2.0)),
        Fault(
            "memory alarm",
            controlled(("set_vm_memory_high_watermark", "0"), ("set_vm_memory_high_watermark", "0.4")),
            (2.0, 8.0),
        ),
        Fault("queues deleted", delete_queues, (0.5, 2.0)),
        Fault("exchanges deleted", delete_exchanges, (0.5, 2.0)),
        Fault(
            "permissions taken",
            controlled(
                ("set_permissions", "guest", "^$", "^$", "^$"),
                ("set_permissions", "guest", ".*", ".*", ".*"),
                then=("close_all_connections", "chaos"),
            ),
            (2.0, 6.0),
        ),
    ),
)
